"""What is mutated, and the tests that have to notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Modules whose mutants the same tests have to kill."""

    modules: tuple[str, ...]
    """Files, from the root of the checkout."""
    tests: tuple[str, ...]
    """What pytest is given: the quick ones that pin it, the quickest first."""


TARGETS: dict[str, Target] = {
    "guard": Target(
        modules=("backends/guard.py",),
        tests=(
            "tests/backends/test_guard_verdict.py",
            "tests/backends/test_changing.py",
            "tests/backends/test_guard.py",
        ),
    ),
    "changing": Target(
        modules=("backends/changing.py",),
        tests=("tests/backends/test_changing.py", "tests/backends/megaraid/test_backend.py"),
    ),
    "changer": Target(
        modules=("app/engine/change/changer.py", "app/engine/change/reading_back.py"),
        tests=tuple(
            f"tests/engine/change/test_{name}.py" for name in ("changer", "ends", "trials", "destroying", "sets")
        ),
    ),
    "effects": Target(
        modules=("app/engine/change/side_effects.py", "backends/vendors/block/knobs.py"),
        tests=(
            "tests/backends/test_side_effects.py",
            "tests/engine/change/test_side_effects.py",
            "tests/engine/change/test_side_effects_on_disks.py",
        ),
    ),
    "subject": Target(
        modules=("backends/subject.py", "backends/vendors/megaraid/storcli/named.py"),
        tests=("tests/backends/test_answers_of_others.py", "tests/backends/megaraid/test_named.py"),
    ),
    "account": Target(modules=("app/engine/joint/account.py",), tests=("tests/engine/joint/test_lies.py",)),
    "journal": Target(
        modules=("app/engine/session/journal.py",),
        tests=(
            *(f"tests/engine/session/test_{name}.py" for name in ("journal", "journal_of_trials", "earlier_versions")),
            "tests/priv/test_owners.py",
        ),
    ),
    "helper": Target(
        modules=("app/priv/changing.py", "app/priv/reading.py"),
        tests=tuple(
            f"tests/priv/test_{name}.py" for name in ("owners", "whose", "guarded_changes", "reading", "nodes")
        ),
    ),
    "layers": Target(
        modules=("backends/topology/layers.py",),
        tests=("tests/backends/test_layers.py", "tests/backends/test_guard_verdict.py"),
    ),
    "replicas": Target(modules=("backends/topology/replicas.py",), tests=("tests/backends/test_drbd.py",)),
    "scratch": Target(
        modules=(
            *(f"app/engine/measure/scratch_{name}.py" for name in ("mark", "hold", "use")),
            "backends/topology/file_users.py",
        ),
        tests=("tests/engine/measure/test_scratch.py", "tests/engine/measure/test_scratch_use.py"),
    ),
    "footing": Target(
        modules=("app/engine/measure/footing_watch.py", "backends/topology/footing.py"),
        tests=("tests/engine/measure/test_footing_watch.py",),
    ),
    "programs": Target(
        modules=("backends/hosts/local/programs.py",),
        tests=("tests/backends/test_programs.py", "tests/priv/test_nodes.py"),
    ),
    "replacing": Target(
        modules=("backends/hosts/local/replacing.py", "backends/input_file.py", "backends/output_file.py"),
        tests=(
            "tests/backends/test_replacing.py",
            "tests/backends/test_input_file.py",
            "tests/backends/test_output_file.py",
            "tests/cli/test_output_places.py",
        ),
    ),
    "rules": Target(
        modules=("backends/udev.py",),
        tests=("tests/backends/test_rule_lines.py", "tests/backends/test_persist.py"),
    ),
    "redaction": Target(
        modules=("backends/redaction.py", "app/engine/session/redaction.py"),
        tests=("tests/backends/test_redaction.py", "tests/cli/test_redact.py", "tests/cli/test_secrets.py"),
    ),
    "megaraid": Target(
        modules=("backends/vendors/megaraid/running.py",),
        tests=(
            "tests/backends/megaraid/test_storcli_verdict.py",
            "tests/backends/megaraid/test_megacli_verdict.py",
            "tests/backends/megaraid/test_together.py",
            "tests/backends/megaraid/test_backend.py",
            "tests/backends/megaraid/test_conformance.py",
        ),
    ),
    "ranges": Target(
        modules=("backends/topology/ranges.py",),
        tests=("tests/backends/test_ranges.py", "tests/backends/test_beneath.py"),
    ),
    "mdraid": Target(modules=("backends/vendors/mdraid/running.py",), tests=("tests/backends/mdraid",)),
    "bcache": Target(
        modules=tuple(f"backends/vendors/bcache/{name}.py" for name in ("backend", "inventory", "readings")),
        tests=("tests/backends/bcache/test_backend.py",),
    ),
    "zfs": Target(
        modules=("backends/vendors/zfs/settings.py",),
        tests=("tests/backends/zfs/test_changing.py",),
    ),
    "settable": Target(
        modules=("backends/settable.py",),
        tests=("tests/backends/test_settable.py", "tests/backends/listed/test_conformance.py"),
    ),
    "nvme": Target(modules=("backends/vendors/nvme/plans.py",), tests=("tests/backends/nvme",)),
    "scsi": Target(modules=("backends/vendors/scsi/running.py",), tests=("tests/backends/scsi",)),
    "smartarray": Target(
        modules=tuple(f"backends/vendors/smartarray/{name}.py" for name in ("ssacli/tool", "arcconf/tool", "plans")),
        tests=("tests/backends/smartarray/test_backend.py", "tests/backends/smartarray/test_conformance.py"),
    ),
    "arrays of cards": Target(
        modules=("backends/card_arrays.py", "backends/vendors/smartarray/making.py"),
        tests=("tests/backends/racks/test_makers.py", "tests/backends/megaraid/test_made.py"),
    ),
    "shapes of arrays": Target(modules=("backends/making.py",), tests=("tests/backends/test_making.py",)),
    "births by arcconf": Target(
        modules=("backends/vendors/smartarray/arcconf/commands.py",),
        tests=("tests/backends/smartarray/test_making.py", "tests/backends/smartarray/test_backend.py"),
    ),
    "volumes of groups": Target(
        modules=tuple(f"backends/vendors/lvm/{name}.py" for name in ("making", "groups")),
        tests=("tests/backends/lvm/test_making.py", "tests/backends/racks/test_volume_maker.py"),
    ),
    "arrays of 3ware": Target(
        modules=tuple(f"backends/vendors/threeware/{name}.py" for name in ("settings", "making")),
        tests=("tests/backends/racks/test_making_threeware.py",),
    ),
    "prompt": Target(modules=("backends/hosts/local/prompt.py",), tests=("tests/backends/test_prompt.py",)),
    "smcli": Target(
        modules=("backends/vendors/smcli/backend.py", "backends/vendors/smcli/statements.py"),
        tests=("tests/backends/smcli/test_backend.py", "tests/backends/smcli/test_conformance.py"),
    ),
    "santricity": Target(
        modules=("backends/vendors/santricity/backend.py", "backends/vendors/santricity/readings.py"),
        tests=("tests/backends/santricity/test_backend.py", "tests/backends/santricity/test_conformance.py"),
    ),
    "web": Target(
        modules=tuple(f"backends/hosts/web/{name}.py" for name in ("door", "host", "exchange")),
        tests=("tests/backends/web", "tests/engine/test_web_hosts.py"),
    ),
    "fusionio": Target(
        modules=("backends/vendors/fusionio/backend.py", "backends/vendors/fusionio/sector.py"),
        tests=("tests/backends/fusionio/test_backend.py", "tests/backends/fusionio/test_conformance.py"),
    ),
    "threeware": Target(
        modules=("backends/vendors/threeware/backend.py",),
        tests=("tests/backends/listed/test_backends.py", "tests/backends/listed/test_conformance.py"),
    ),
    "judge": Target(
        modules=("app/engine/judge/verdict.py", "app/engine/judge/stats.py"),
        tests=("tests/engine/judge",),
    ),
    "comparison": Target(
        modules=("app/engine/judge/comparison.py",),
        tests=(
            *(f"tests/engine/judge/test_{name}.py" for name in ("levels", "comparison", "two_sessions", "caveats")),
            *("tests/engine/view/test_comparison.py", "tests/engine/view/test_side_by_side.py"),
        ),
    ),
    "flaky": Target(
        modules=tuple(f"tests/ci/{name}.py" for name in ("decision", "sessions", "safety", "known")),
        tests=tuple(f"tests/ci/test_{name}.py" for name in ("decision", "steps", "safety", "known")),
    ),
    "exports": Target(
        modules=("backends/topology/exports.py", "backends/topology/clones.py"),
        tests=("tests/backends/test_exports.py", "tests/backends/test_clones.py"),
    ),
    "quiet-users": Target(
        modules=("backends/topology/quiet_users.py",),
        tests=("tests/backends/test_quiet_users.py",),
    ),
    "leftovers": Target(
        modules=("backends/topology/leftovers.py",),
        tests=("tests/backends/test_leftovers.py",),
    ),
    "geometry": Target(
        modules=("backends/vendors/megaraid/geometry.py",),
        tests=("tests/backends/megaraid/test_geometry.py",),
    ),
}
"""By name, the last lines before data are lost or a wrong word is said first."""

DRAWN: tuple[str, ...] = (
    "backends/guard.py",
    "backends/changing.py",
    *(
        f"backends/topology/{name}.py"
        for name in (
            "naming",
            "sight",
            "backings",
            "clones",
            "exports",
            "mapped",
            "ranges",
            "openers",
            "look",
            "room",
            "room_look",
            "quiet_users",
            "leftovers",
            "replicas",
        )
    ),
    *(f"app/engine/session/{name}.py" for name in ("journal", "journals", "own_file", "locks")),
    "app/engine/change/*.py",
    *(f"app/priv/{name}.py" for name in ("changing", "reading")),
    "app/engine/judge/comparison.py",
    "backends/vendors/megaraid/geometry.py",
    "backends/vendors/**/inventory.py",
)
"""Where `--random` draws its lines if nothing is named: what guards data, and what a person is told."""
