"""Styles with less work: a source is parsed once, only rules that can be meant are looked at, what is styled stays."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from textual.app import App
from textual.cache import LRUCache
from textual.css.model import RuleSet, SelectorType
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.widget import Widget

_SOURCES = 512
"""Sources of which what was parsed is kept: more than there are classes of widgets. With one too many all are parsed
anew for each further one.
"""


class NarrowedStylesheet(Stylesheet):
    """Applies what Textual's own applies.

    That one (8.2) parses every source anew, twice, for every screen that is shown for the first time, though it was
    given the same variables. It goes through all rules for every widget and for each of its component classes, styles a
    whole screen anew whenever it is resized or comes to the front, and makes the styles of component classes anew
    whenever anything about a widget changes, be it only where the keys go.
    """

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(_SOURCES)
        self._all: list[RuleSet] = []
        self._narrowed: dict[frozenset[str], list[RuleSet]] = {}
        self._parts: dict[str, DOMNode] = {}
        self._asked: dict[object, tuple[frozenset[str], frozenset[str]]] = {}
        self._seen: WeakKeyDictionary[DOMNode, list[object]] = WeakKeyDictionary()
        self._matched: WeakKeyDictionary[DOMNode, list[tuple[str, int, object]]] = WeakKeyDictionary()

    def set_variables(self, variables: dict[str, str]) -> None:
        """As Textual does; with the same ones all that was parsed stands."""
        if variables != self._variables:
            super().set_variables(variables)
            self._require_parse = True

    def reparse(self) -> None:
        """Parse what is new, and all of it after other variables. Raises what `parse` raises; the rules then stay."""
        if self._require_parse:
            self.parse()

    def apply(self, node: DOMNode, *, animate: bool = False, cache: dict[Any, Any] | None = None) -> None:
        """As Textual does, from those rules that name the node's type, its id or one of its classes.

        Nothing is done where all that a rule may ask for is as it was the last time.
        """
        if self.rules is not self._all:
            self._all = self.rules
            for known in (self._narrowed, self._asked, self._seen, self._matched):
                known.clear()
        if isinstance(node, (App, Widget)):  # and no component class, which is a node of its own each time
            if self._seen.get(node) == (seen := self._seen_of(node)):
                return
            self._seen[node] = seen
        self._rules = self._that_name(node)
        try:
            super().apply(node, animate=animate, cache=cache)
        finally:
            self._rules = self._all

    def _seen_of(self, node: DOMNode) -> list[object]:
        """What the rules that may be meant ask of the node and of all above it: names, and pseudo-classes it has."""
        names, pseudo_classes = self._asked_by(node)
        return [
            (names & one._selector_names, [name for name in pseudo_classes if one.has_pseudo_class(name)])
            for one in node.css_path_nodes
        ]

    def _asked_by(self, node: DOMNode) -> tuple[frozenset[str], frozenset[str]]:
        """All names and all pseudo-classes in the rules of a node and of its component classes."""
        key = (type(node), node.id, node.classes)
        if (asked := self._asked.get(key)) is None:
            parts = [self._part(component) for component in node._get_component_classes()]
            selectors = [
                selector
                for one in (node, *parts)
                for rule in self._that_name(one)
                for selector_set in rule.selector_set
                for selector in selector_set.selectors
            ]
            signs = {SelectorType.CLASS: ".", SelectorType.ID: "#"}
            names = frozenset((".-textual-system", *(signs.get(one.type, "") + one.name for one in selectors)))
            asked = self._asked[key] = (names, frozenset().union(*(one.pseudo_classes for one in selectors)))
        return asked

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
        part = self._part(component)
        path = [*node.css_path_nodes, part]
        return [(rule, how) for rule in self._that_name(part) for how in self._check_rule(rule, path)]

    def _part(self, component: str) -> DOMNode:
        if (part := self._parts.get(component)) is None:
            part = self._parts[component] = DOMNode(classes=component)
        return part

    def _that_name(self, node: DOMNode) -> list[RuleSet]:
        names = frozenset(self.rules_map.keys() & node._selector_names)
        if (rules := self._narrowed.get(names)) is None:
            rules = self._narrowed[names] = [rule for rule in self._all if not names.isdisjoint(rule.selector_names)]
        return rules
