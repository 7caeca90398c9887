"""The clean root in which a release is installed: a minimal Debian 12 with the programs that docs/install.md calls."""

from __future__ import annotations

from pathlib import Path

from tests.package.hosts import Root


class ReleaseRoot(Root):
    """A root of its own: the one of the packages has neither curl nor gpg."""

    @property
    def folder(self) -> Path:
        """Its files."""
        return super().folder.with_name(f"{self.suite}-release")


CLEAN = ReleaseRoot(
    title="Debian 12", suite="bookworm", glibc="2.36", packages=("ca-certificates", "curl", "gnupg", "openssh-client")
)
