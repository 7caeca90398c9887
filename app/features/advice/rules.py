"""Table of all advice rules. Rules about the conditions that distort results most come first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from app.core.benchmark.conditions.facts import RunFacts
from app.core.session.results import Advice
from app.features.advice import array_rules, cache_rules, condition_rules, job_rules, measured_rules

Rule = Callable[[RunFacts], Advice | None]
"""A function that returns advice for a run, or None. It does not depend on other rules."""

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "page-cache": job_rules.page_cache,
        "unwritten-flash": array_rules.unwritten_flash,
        "background-task": condition_rules.background_task,
        "policy-changed": condition_rules.policy_changed,
        "device-busy": condition_rules.device_busy,
        "throttled": condition_rules.throttled,
        "fio-cpu-bound": measured_rules.fio_cpu_bound,
        "host-cpu-bound": measured_rules.host_cpu_bound,
        "policy-not-in-force": condition_rules.policy_not_in_force,
        "battery-learning": condition_rules.battery_learning,
        "array-degraded": condition_rules.array_degraded,
        "cache-larger-than-area": array_rules.cache_larger_than_area,
        "stream-bypasses-cache": cache_rules.stream_bypasses_cache,
        "writecache-fills": cache_rules.writecache_fills,
        "cache-cold": cache_rules.cache_cold,
        "zfs-sync": cache_rules.zfs_sync,
        "rate-not-held": measured_rules.rate_not_held,
        "depth-not-kept": measured_rules.depth_not_kept,
        "not-steady": measured_rules.not_steady,
        "sync-depth": job_rules.sync_depth,
        "same-blocks": job_rules.same_blocks,
        "same-seed": job_rules.same_seed,
        "member-imbalance": array_rules.member_imbalance,
        "sector-misaligned": job_rules.sector_misaligned,
        "stripe-read-modify-write": array_rules.stripe_read_modify_write,
        "zfs-block-size": cache_rules.zfs_block_size,
        "zfs-compression": cache_rules.zfs_compression,
        "cache-not-full": array_rules.cache_not_full,
        "depth-beyond-device": array_rules.depth_beyond_device,
        "governor": condition_rules.governor,
        "too-short": job_rules.too_short,
        "few-ios": measured_rules.few_ios,
        "random-map": job_rules.random_map,
        "long-steady": measured_rules.long_steady,
    }
)
"""Rules by the key of their advice. The key is also a heading in docs/advice.md."""

KEYS = tuple(RULES)
"""Keys of all rules, in the order of the table."""


ABOUT_A_SECTION = frozenset(
    {
        "page-cache",
        "cache-larger-than-area",
        "stream-bypasses-cache",
        "zfs-sync",
        "rate-not-held",
        "depth-not-kept",
        "sync-depth",
        "same-blocks",
        "same-seed",
        "sector-misaligned",
        "stripe-read-modify-write",
        "zfs-block-size",
        "too-short",
        "few-ios",
        "random-map",
    }
)
"""Keys of the rules that are applied to each section of a job separately."""

NOT_OF_SECTIONS = frozenset({"not-steady", "long-steady"})
"""Keys of the rules that are not applied to jobs with sections.

The totals of such a job change whenever a section starts or ends.
"""


def advise(facts: RunFacts) -> tuple[Advice, ...]:
    """Return all advice for a run, the most important first. Rules whose facts are unknown give no advice."""
    if not facts.job.sections:
        return tuple(advice for rule in RULES.values() if (advice := rule(facts)) is not None)
    sections = [(section.name, _section_facts(facts, at)) for at, section in enumerate(facts.job.sections)]
    advices = [
        _advise_sections(rule, sections) if key in ABOUT_A_SECTION else rule(facts)
        for key, rule in RULES.items()
        if key not in NOT_OF_SECTIONS
    ]
    return tuple(advice for advice in advices if advice is not None)


def _section_facts(facts: RunFacts, at: int) -> RunFacts:
    """Return the facts of one section: its job, area and results."""
    job = facts.job.sections[at].job
    area = facts.area_bytes if job.size is None else min(filter(None, (job.size, facts.area_bytes)))
    done = facts.measured
    measured = done.sections[at] if done is not None and at < len(done.sections) else None
    return replace(facts, job=job, area_bytes=area, measured=measured)


def _advise_sections(rule: Rule, sections: Sequence[tuple[str, RunFacts]]) -> Advice | None:
    """Apply a rule to all sections, and return their advice combined into one; None if no section gets any.

    The message names the sections, unless all of them get the same advice.
    """
    advices = [(name, advice) for name, facts in sections if (advice := rule(facts)) is not None]
    if not advices:
        return None
    first = advices[0][1]
    if len(advices) == len(sections) and all(advice == first for _, advice in advices):
        return first
    names: dict[str, list[str]] = {}
    for name, advice in advices:
        names.setdefault(advice.message, []).append(name)
    return replace(
        first,
        message=" ".join(f"{', '.join(alike)}: {message}" for message, alike in names.items()),
        do=" ".join(dict.fromkeys(advice.do for _, advice in advices if advice.do)),
    )
