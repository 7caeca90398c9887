"""Programs that need fast flushes: their workload, and the limits that their documentation sets. None is invented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from types import MappingProxyType

from app.core.fio.job import Job
from app.core.fio.profiles import profile as workload
from app.features.fit.decision import SECONDS
from app.features.fit.demands import Demands
from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError, NotFoundError
from backends.model import Media
from backends.text import clean
from backends.values import dataclass

YOURS = "your limit"
"""Source of a limit that the user gave."""

RAMP = 2
"""Seconds of warm-up before each run."""

_HELD = 0.98
"""Share of a requested rate that counts as reached."""


class Quantity(StrEnum):
    """What a limit is about."""

    FLUSH_P99 = "flush_p99"
    """99th percentile of a flush in seconds, at most the limit."""
    COMMITS = "commits"
    """Commits per second, at least the limit."""
    IOPS = "iops"
    """I/Os per second, at least the limit."""
    MEAN = "mean"
    """Mean latency in seconds, at most the limit."""
    BYTES = "bytes"
    """Bytes per second, at least the limit."""

    @property
    def at_least(self) -> bool:
        """Return whether the limit is the smallest allowed value."""
        return self not in (Quantity.FLUSH_P99, Quantity.MEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit and whose it is."""

    quantity: Quantity
    """What is limited."""
    value: float
    """The limit, in seconds, bytes per second or events per second."""
    source: str
    """Who sets the limit."""


class NetworkRule(StrEnum):
    """What a network filesystem means for a program."""

    ALLOWED = "allowed"
    """The program works on it."""
    REFUSED = "refused"
    """Its latency is that of the network and the server, which this command cannot judge."""
    UNFIT = "unfit"
    """The program needs a local POSIX filesystem, so the answer is no, and nothing is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitProfile:
    """A program, its workload and its limits."""

    name: str
    """Name on the command line."""
    title: str
    """Name of the program for sentences."""
    workload: str = ""
    """Name of the profile for `bench`; "" if nothing is measured."""
    limit: Limit | None = None
    """Limit of the documentation; None if it depends on the media, or if there is none."""
    heavy: Limit | None = None
    """Limit for a heavily loaded program; None if the documentation has none."""
    by_media: Mapping[str, Limit] = field(default_factory=dict)
    """Limits of the documentation for `flash` and `disk`; empty if they do not depend on the media."""
    pause_s: float | None = None
    """Seconds that no single flush or write may reach; None if no pause is excluded."""
    flushes_per_commit: int = 1
    """Flushes that one commit waits for."""
    options: tuple[str, ...] = ()
    """Options that set a number for this program: `limit`, `heavy`, `commits`, `p99`, `iops`, `mbps`."""
    question: str = ""
    """The number that the user must say, because no documentation has it; "" if there is one."""
    note: str = ""
    """What else the sources say; "" for nothing."""
    network: NetworkRule = NetworkRule.ALLOWED
    """What a network filesystem means."""
    sustained: bool = False
    """Whether the program writes for hours, so that a yes needs a preconditioned device."""


def _flush(seconds: float, source: str) -> Limit:
    return Limit(quantity=Quantity.FLUSH_P99, value=seconds, source=source)


_ETCD = FitProfile(
    name="etcd",
    title="etcd",
    workload="etcd",
    limit=_flush(0.010, "etcd FAQ; OpenShift up to 4.20"),
    heavy=_flush(0.002, "etcd hardware page: 500 sequential IOPS for busy clusters"),
    pause_s=1.0,  # etcd elects a new leader after this time
    options=("limit", "heavy"),
    note="OpenShift 4.21 says 20 ms: `--limit 20ms` applies it.",
    network=NetworkRule.REFUSED,
)

_COMMITS = "how many commits a second you need (--commits N), or how long one flush may take (--p99 5ms)"
_FLOOR = "Ceph, osd_mclock_iops_capacity_low_threshold"
_KB = "Broadcom KB 318927"

_ALL = (
    _ETCD,
    replace(_ETCD, name="k8s", title="the etcd of Kubernetes"),
    FitProfile(
        name="ceph-osd",
        title="a Ceph OSD",
        workload="ceph-osd",
        by_media={
            "flash": Limit(quantity=Quantity.IOPS, value=1000, source=f"{_FLOOR}_ssd"),
            "disk": Limit(quantity=Quantity.IOPS, value=50, source=f"{_FLOOR}_hdd"),
        },
        options=("iops",),
        question="how many I/Os a second you need (--iops N), because the kind of drive is not known",
        sustained=True,
    ),
    FitProfile(name="postgres", title="PostgreSQL", workload="postgres", options=("commits", "p99"), question=_COMMITS),
    FitProfile(
        name="mysql",
        title="MySQL or MariaDB",
        workload="postgres",
        flushes_per_commit=2,  # of the redo log and the binary log
        options=("commits", "p99"),
        question=_COMMITS,
        note="A commit waits for two flushes: of the redo log and of the binary log.",
    ),
    FitProfile(
        name="vm",
        title="virtual machines",
        workload="mixed-32k",
        by_media={
            "flash": Limit(quantity=Quantity.MEAN, value=0.002, source=_KB),
            "disk": Limit(quantity=Quantity.MEAN, value=0.010, source=_KB),
        },
        options=("iops", "limit"),
        question="how many I/Os a second the machines need (--iops N)",
    ),
    FitProfile(
        name="kafka",
        title="Kafka",
        workload="seqwrite-4m",
        options=("mbps",),
        question="how many MB a second you need (--mbps N)",
        network=NetworkRule.UNFIT,
        sustained=True,
        note="Kafka recommends to leave flushes to the operating system, so no latency is judged.",
    ),
    FitProfile(
        name="prometheus",
        title="Prometheus",
        network=NetworkRule.UNFIT,
        note="Prometheus sets no limit but a local POSIX filesystem (Prometheus, Storage).",
    ),
)

FIT_PROFILES: Mapping[str, FitProfile] = MappingProxyType({profile.name: profile for profile in _ALL})
"""Every program by name, in display order."""


def fit_profile(name: str) -> FitProfile:
    """Return the program of that name. Raises NotFoundError, which suggests names, if there is none."""
    if name not in FIT_PROFILES:
        raise NotFoundError(
            f"There is no program named '{clean(name, 40)}'",
            hint=suggestion_hint(name, FIT_PROFILES, f"Programs: {', '.join(FIT_PROFILES)}."),
        )
    return FIT_PROFILES[name]


def require_suitable(profile: FitProfile, demands: Demands) -> None:
    """Raise InvalidValueError if the user gave a number that means nothing for the program."""
    for name in demands.given:
        if name not in profile.options:
            own = ", ".join(f"--{option}" for option in profile.options) or "none"
            raise InvalidValueError(f"--{name} does not apply to {profile.name}.", hint=f"Its options: {own}.")
    if demands.limit is not None and demands.heavy:
        raise InvalidValueError("--limit and --heavy exclude each other.", hint="Leave out one of them.")


def job_of(profile: FitProfile, demands: Demands, seconds: int = SECONDS) -> Job:
    """Return the job of one run. A rate that the user named is what the job is limited to."""
    job = replace(workload(profile.workload).job, runtime=seconds, ramp=RAMP if seconds > RAMP else 0)
    return replace(job, rate_iops=demands.iops) if profile.name == "vm" and demands.iops is not None else job


def limits_of(profile: FitProfile, demands: Demands, media: Media) -> tuple[Limit, ...]:
    """Return the limits that must all hold; () if neither the documentation nor the user sets one."""
    kind = {Media.HDD: "disk", Media.SSD: "flash", Media.NVME: "flash"}.get(media, "")
    limit = profile.heavy if demands.heavy else profile.limit or profile.by_media.get(kind)
    if demands.limit is not None:
        quantity = Quantity.MEAN if profile.name == "vm" else Quantity.FLUSH_P99
        limit = Limit(quantity=quantity, value=demands.limit, source=YOURS)
    if profile.name == "vm":
        if demands.iops is None or limit is None:
            return ()
        return (limit, Limit(quantity=Quantity.IOPS, value=_HELD * demands.iops, source=f"98 % of {YOURS}"))
    own = (
        (Quantity.COMMITS, demands.commits),
        (Quantity.FLUSH_P99, demands.p99),
        (Quantity.IOPS, demands.iops),
        (Quantity.BYTES, None if demands.mbps is None else demands.mbps * 1e6),
    )
    yours = tuple(Limit(quantity=key, value=value, source=YOURS) for key, value in own if value is not None)
    return yours or (() if limit is None else (limit,))
