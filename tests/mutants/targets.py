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
        modules=("backends/change_steps.py",),
        tests=("tests/backends/test_changing.py", "tests/backends/megaraid/test_backend.py"),
    ),
    "changer": Target(
        modules=("app/core/changes/executor.py", "app/core/changes/verification.py"),
        tests=(
            "tests/core/changes/test_changer.py",
            "tests/core/changes/test_ends.py",
            "tests/core/changes/test_trials.py",
            "tests/core/changes/test_destroying.py",
            "tests/core/changes/test_sets.py",
        ),
    ),
    "effects": Target(
        modules=("app/core/changes/side_effects.py", "backends/vendors/block/settings.py"),
        tests=(
            "tests/backends/test_side_effects.py",
            "tests/core/changes/test_side_effects.py",
            "tests/core/changes/test_side_effects_on_disks.py",
        ),
    ),
    "subject": Target(
        modules=("backends/subject.py", "backends/vendors/megaraid/storcli/named.py"),
        tests=("tests/backends/test_answers_of_others.py", "tests/backends/megaraid/test_named.py"),
    ),
    "account": Target(
        modules=("app/features/fleet/multihost/account.py",), tests=("tests/features/fleet/multihost/test_lies.py",)
    ),
    "journal": Target(
        modules=("app/core/session/journal.py",),
        tests=(
            *(
                "tests/core/session/test_journal.py",
                "tests/core/session/test_journal_of_trials.py",
            ),
            *("tests/privsep/test_owners.py", "tests/test_unreleased.py"),
        ),
    ),
    "unreleased": Target(
        modules=(
            *("app/core/session/unreleased.py", "app/core/session/unreleased_sessions.py"),
            *("app/core/unreadable_state.py", "backends/formats.py"),
        ),
        tests=("tests/test_unreleased.py", "tests/test_formats.py"),
    ),
    "helper": Target(
        modules=("app/privsep/change_verbs.py", "app/privsep/read_policy.py"),
        tests=(
            "tests/privsep/test_owners.py",
            "tests/privsep/test_whose.py",
            "tests/privsep/test_guarded_changes.py",
            "tests/privsep/test_reading.py",
            "tests/privsep/test_nodes.py",
        ),
    ),
    "layers": Target(
        modules=("backends/topology/stacking.py",),
        tests=("tests/backends/topology/test_stacking.py", "tests/backends/test_guard_verdict.py"),
    ),
    "replicas": Target(modules=("backends/topology/replicas.py",), tests=("tests/backends/test_drbd.py",)),
    "scratch": Target(
        modules=(
            *(
                "app/core/benchmark/scratch_xattr.py",
                "app/core/benchmark/scratch_descriptor.py",
                "app/core/benchmark/scratch_use.py",
            ),
            "backends/topology/file_users.py",
        ),
        tests=("tests/core/benchmark/test_scratch.py", "tests/core/benchmark/test_scratch_use.py"),
    ),
    "footing": Target(
        modules=("app/core/benchmark/stack_watch.py", "backends/topology/footing.py"),
        tests=("tests/core/benchmark/test_footing_watch.py",),
    ),
    "programs": Target(
        modules=("backends/system/local/programs.py", "backends/system/root_owned.py"),
        tests=("tests/backends/system/test_programs.py", "tests/privsep/test_nodes.py"),
    ),
    "replacing": Target(
        modules=("backends/system/local/file_replacement.py", "backends/input_file.py", "backends/output_file.py"),
        tests=(
            "tests/backends/system/test_file_replacement.py",
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
        modules=("backends/redaction.py", "app/core/session/redaction.py"),
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
        tests=("tests/backends/topology/test_ranges.py", "tests/backends/test_beneath.py"),
    ),
    "mdraid": Target(modules=("backends/vendors/mdraid/running.py",), tests=("tests/backends/mdraid",)),
    "bcache": Target(
        modules=(
            "backends/vendors/bcache/backend.py",
            "backends/vendors/bcache/inventory.py",
            "backends/vendors/bcache/readings.py",
        ),
        tests=("tests/backends/bcache/test_backend.py",),
    ),
    "zfs": Target(
        modules=("backends/vendors/zfs/settings.py",),
        tests=("tests/backends/zfs/test_changing.py",),
    ),
    "settable": Target(
        modules=("backends/settings_backend.py",),
        tests=("tests/backends/test_settable.py", "tests/backends/listed/test_conformance.py"),
    ),
    "nvme": Target(modules=("backends/vendors/nvme/plans.py",), tests=("tests/backends/nvme",)),
    "scsi": Target(modules=("backends/vendors/scsi/running.py",), tests=("tests/backends/scsi",)),
    "smartarray": Target(
        modules=(
            "backends/vendors/smartarray/ssacli/tool.py",
            "backends/vendors/smartarray/arcconf/tool.py",
            "backends/vendors/smartarray/plans.py",
        ),
        tests=("tests/backends/smartarray/test_backend.py", "tests/backends/smartarray/test_conformance.py"),
    ),
    "arrays of cards": Target(
        modules=("backends/controller_arrays.py", "backends/vendors/smartarray/creation.py"),
        tests=("tests/backends/simulator/test_makers.py", "tests/backends/megaraid/test_made.py"),
    ),
    "shapes of arrays": Target(modules=("backends/array_planning.py",), tests=("tests/backends/test_making.py",)),
    "births by arcconf": Target(
        modules=("backends/vendors/smartarray/arcconf/commands.py",),
        tests=("tests/backends/smartarray/test_making.py", "tests/backends/smartarray/test_backend.py"),
    ),
    "volumes of groups": Target(
        modules=(
            "backends/vendors/lvm/creation.py",
            "backends/vendors/lvm/groups.py",
        ),
        tests=("tests/backends/lvm/test_making.py", "tests/backends/simulator/test_volume_maker.py"),
    ),
    "arrays of 3ware": Target(
        modules=(
            "backends/vendors/threeware/settings.py",
            "backends/vendors/threeware/creation.py",
        ),
        tests=("tests/backends/simulator/test_making_threeware.py",),
    ),
    "prompt": Target(
        modules=("backends/system/local/pty_prompt.py",), tests=("tests/backends/system/test_pty_prompt.py",)
    ),
    "smcli": Target(
        modules=("backends/vendors/smcli/backend.py", "backends/vendors/smcli/statements.py"),
        tests=("tests/backends/smcli/test_backend.py", "tests/backends/smcli/test_conformance.py"),
    ),
    "santricity": Target(
        modules=("backends/vendors/santricity/backend.py", "backends/vendors/santricity/readings.py"),
        tests=("tests/backends/santricity/test_backend.py", "tests/backends/santricity/test_conformance.py"),
    ),
    "web": Target(
        modules=(
            "backends/system/https/endpoint.py",
            "backends/system/https/host.py",
            "backends/system/https/request.py",
        ),
        tests=("tests/backends/system/https", "tests/core/test_https_hosts.py"),
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
        modules=("app/core/analysis/verdict.py", "app/core/analysis/stats.py"),
        tests=("tests/core/analysis",),
    ),
    "comparison": Target(
        modules=("app/core/analysis/comparison.py",),
        tests=(
            *(
                "tests/core/analysis/test_levels.py",
                "tests/core/analysis/test_comparison.py",
                "tests/core/analysis/test_two_sessions.py",
                "tests/core/analysis/test_caveats.py",
            ),
            *("tests/core/presentation/test_comparison.py", "tests/core/presentation/test_side_by_side.py"),
        ),
    ),
    "flaky": Target(
        modules=(
            "tests/ci/decision.py",
            "tests/ci/sessions.py",
            "tests/ci/safety.py",
            "tests/ci/known.py",
        ),
        tests=(
            "tests/ci/test_decision.py",
            "tests/ci/test_steps.py",
            "tests/ci/test_safety.py",
            "tests/ci/test_known.py",
        ),
    ),
    "exports": Target(
        modules=("backends/topology/exports.py", "backends/topology/clones.py"),
        tests=("tests/backends/topology/test_exports.py", "tests/backends/topology/test_clones.py"),
    ),
    "quiet-users": Target(
        modules=("backends/topology/quiet_users.py",),
        tests=("tests/backends/topology/test_quiet_users.py",),
    ),
    "leftovers": Target(
        modules=("backends/topology/leftovers.py",),
        tests=("tests/backends/topology/test_leftovers.py",),
    ),
    "geometry": Target(
        modules=("backends/vendors/megaraid/geometry.py",),
        tests=("tests/backends/megaraid/test_geometry.py",),
    ),
}
"""By name, the last lines before data are lost or a wrong word is said first."""

DRAWN: tuple[str, ...] = (
    "backends/guard.py",
    "backends/change_steps.py",
    *(
        "backends/topology/device_identity.py",
        "backends/topology/loop_backing.py",
        "backends/topology/clones.py",
        "backends/topology/exports.py",
        "backends/topology/device_mapper.py",
        "backends/topology/ranges.py",
        "backends/topology/open_files.py",
        "backends/topology/scan.py",
        "backends/topology/thin_capacity.py",
        "backends/topology/thin_capacity_scan.py",
        "backends/topology/quiet_users.py",
        "backends/topology/leftovers.py",
        "backends/topology/replicas.py",
    ),
    *(
        "app/core/session/journal.py",
        "app/core/session/journals.py",
        "app/core/session/unreleased.py",
        "app/core/session/unreleased_sessions.py",
        "app/core/session/trusted_file.py",
        "app/core/session/locks.py",
    ),
    "app/core/changes/*.py",
    *(
        "app/privsep/change_verbs.py",
        "app/privsep/read_policy.py",
    ),
    "app/core/analysis/comparison.py",
    "backends/vendors/megaraid/geometry.py",
    "backends/vendors/**/inventory.py",
)
"""Where `--random` draws its lines if nothing is named: what guards data, and what a person is told."""
