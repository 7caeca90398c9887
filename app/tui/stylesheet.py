"""Styles applied with less work: only rules that can be meant are looked at, and what is styled stays as it is."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode


class NarrowedStylesheet(Stylesheet):
    """Applies what Textual's own applies.

    That one (8.2) goes through all rules for every widget and for each of its component classes, and makes the styles
    of its component classes anew whenever anything about a widget changes, be it only where the keys go.
    """

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._all: list[RuleSet] = []
        self._narrowed: dict[frozenset[str], list[RuleSet]] = {}
        self._parts: dict[str, DOMNode] = {}
        self._matched: WeakKeyDictionary[DOMNode, list[tuple[str, int, object]]] = WeakKeyDictionary()

    def apply(self, node: DOMNode, *, animate: bool = False, cache: dict[Any, Any] | None = None) -> None:
        """As Textual does, from those rules that name the node's type, its id or one of its classes."""
        if self.rules is not self._all:
            self._all = self.rules
            self._narrowed.clear()
            self._matched.clear()
        self._rules = self._that_name(node)
        try:
            super().apply(node, animate=animate, cache=cache)
        finally:
            self._rules = self._all

    def _process_component_classes(self, node: DOMNode) -> None:
        self._rules = self._all
        matched = [
            (component, id(rule), specificity)
            for component in node._get_component_classes()
            for rule, specificity in self._that_match(node, component)
        ]
        if not node._component_styles or self._matched.get(node) != matched:
            super()._process_component_classes(node)
            self._matched[node] = matched

    def _that_match(self, node: DOMNode, component: str) -> list[tuple[RuleSet, object]]:
        if (part := self._parts.get(component)) is None:
            part = self._parts[component] = DOMNode(classes=component)
        path = [*node.css_path_nodes, part]
        return [(rule, how) for rule in self._that_name(part) for how in self._check_rule(rule, path)]

    def _that_name(self, node: DOMNode) -> list[RuleSet]:
        names = frozenset(self.rules_map.keys() & node._selector_names)
        if (rules := self._narrowed.get(names)) is None:
            rules = self._narrowed[names] = [rule for rule in self._all if not names.isdisjoint(rule.selector_names)]
        return rules
