"""Advice: what spoils the figures of a run."""

from app.doors import FeatureDoor

DOOR = FeatureDoor(actions={"advise": "app.features.advice.rules:advise"})
