"""Advice: reports conditions that distort the results of a run."""

from app.doors import FeatureDoor

DOOR = FeatureDoor(actions={"advise": "app.features.advice.rules:advise"})
