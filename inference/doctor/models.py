"""Checks of the tiers: artefacts, policies, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from gate.errors import RoutelockError
from gate.load.appliance import CLASSIFIERS
from gate.load.appliance import Tier as TierSettings
from inference import artefacts
from inference.appliance import check_policies, open_tier
from inference.artefacts import Artefact
from inference.calibration.thresholds import POINTLESS_COVERAGE
from inference.doctor.result import Examined, Level, Result, failed
from inference.tiers import Tier

DERIVE: Final = "derive thresholds with `routelock train thresholds`"


def tiers(examined: Examined) -> Iterator[Result]:
    """Every tier opens, and every file of its model is what its manifest says."""
    for settings in examined.institution.appliance.tiers:
        try:
            open_tier(examined.institution, settings, examined.root)
            model = _artefact(examined, settings)
            if model is not None:
                artefacts.verify(model)
        except (RoutelockError, OSError) as error:
            yield from failed("tiers", settings.name, error)
            continue
        told = f", {len(model.manifest['files'])} files as sealed" if model is not None else ""
        yield Result("tiers", settings.name, Level.OK, f"{settings.kind} opens{told}")


def _artefact(examined: Examined, settings: TierSettings) -> Artefact | None:
    return None if settings.model is None else artefacts.read(examined.root / settings.model)


def policies(examined: Examined) -> Iterator[Result]:
    """Where each model's thresholds come from, and whether they make it pointless."""
    for settings in examined.institution.appliance.tiers:
        if settings.kind not in CLASSIFIERS:
            if settings.threshold is not None:
                yield _fixed(settings, {})
            continue
        try:
            model = _artefact(examined, settings)
        except RoutelockError:
            continue  # `tiers` says so
        manifest: Mapping[str, Any] = {} if model is None else model.manifest
        report = manifest.get("policy")
        if settings.calibrated and isinstance(report, Mapping):
            yield from _derived(settings.name, report)
        elif not settings.calibrated:
            yield _fixed(settings, manifest)


def _fixed(settings: TierSettings, manifest: Mapping[str, Any]) -> Result:
    """A threshold that somebody chose: no bound is stated for it."""
    threshold = settings.threshold or Decimal(0)
    held_back = manifest.get("held_back")
    answered = held_back.get("answered") if isinstance(held_back, Mapping) else None
    if threshold <= 0:
        told = f"tau is {threshold}, so every message is answered here whatever its score"
        return Result("policies", settings.name, Level.WARNING, told, "raise `threshold`")
    if isinstance(answered, int | float) and answered < POINTLESS_COVERAGE:
        told = f"tau {threshold} lets {answered:.2%} of the held-back texts through: pointless"
        return Result("policies", settings.name, Level.WARNING, told, "lower it or train again")
    told = f"tau {threshold} is fixed and uncalibrated: no bound is stated for its errors"
    fix = DERIVE if settings.kind in CLASSIFIERS else "watch its answers in `routelock bench`"
    return Result("policies", settings.name, Level.WARNING, told, fix)


def _derived(name: str, report: Mapping[str, Any]) -> Iterator[Result]:
    """What the manifest says of a policy: what makes the tier pointless, and the bound."""
    for problem in report.get("problems", ()):
        yield Result("policies", name, Level.WARNING, str(problem), "train again, or leave it out")
    bound = report.get("bound")
    if not isinstance(bound, Mapping) or bound.get("void", "not stated"):
        why = bound["void"] if isinstance(bound, Mapping) and "void" in bound else "not stated"
        told = f"the error bound is void: {why}"
        yield Result("policies", name, Level.WARNING, told, f"label more texts and {DERIVE}")
        return
    told = (
        f"wrong routes at most {bound['alpha']:.0%} with confidence {1 - bound['delta']:.0%}, at "
        f"coverage {bound['coverage']:.1%}"
    )
    yield Result("policies", name, Level.OK, told)


def costs(examined: Examined) -> Iterator[Result]:
    """Derived thresholds come from today's costs and the tier that is asked next today."""
    institution = examined.institution
    opened: list[Tier] = []
    for settings in institution.appliance.tiers:
        try:
            opened.append(open_tier(institution, settings, examined.root))
        except (RoutelockError, OSError):
            return  # `tiers` says so
    try:
        check_policies(institution, opened)
    except RoutelockError as error:
        yield from failed("costs", "costs.yaml", error)
        return
    derived = sum(one.calibrated for one in institution.appliance.tiers)
    told = f"{derived} tiers with thresholds derived from them"
    if institution.costs is None:
        told = "no costs.yaml; every threshold is fixed"
    yield Result("costs", "costs.yaml", Level.OK, told)
