"""A faster Textual stylesheet: it parses sources once, checks only matching rules, and keeps unchanged styles."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from textual.app import App
from textual.cache import LRUCache
from textual.css.model import RuleSet, SelectorType
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.widget import Widget

SelectorParts = tuple[frozenset[str], frozenset[str]]
"""The names in selectors: a set of types, ids and classes, and a set of pseudo-classes."""

MatchedParts = list[object]
"""For a node and each of its ancestors: the names and pseudo-classes that it has and that rules refer to."""

_SOURCES = 512
"""Size of the parse cache, larger than the number of sources (one per widget class). If it were too small by one, each
new source would cause all of them to be parsed again."""


class NarrowedStylesheet(Stylesheet):
    """Applies the same styles as Textual's own stylesheet.

    Textual (8.2) parses every source again, twice, for every screen that is shown for the first time, even with the
    same variables. It checks all rules for every widget and each of its component classes. It styles a complete screen
    again whenever the screen is resized or shown. It computes the styles of component classes again whenever their
    widget changes, even its focus.
    """

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(_SOURCES)
        self._all: list[RuleSet] = []
        self._order: dict[RuleSet, int] = {}
        self._narrowed: dict[frozenset[str], list[RuleSet]] = {}
        self._component_nodes: dict[str, DOMNode] = {}
        self._parts_by_names: dict[frozenset[str], SelectorParts] = {}
        self._parts_by_components: dict[frozenset[str], SelectorParts] = {}
        self._matched: WeakKeyDictionary[DOMNode, MatchedParts] = WeakKeyDictionary()
        self._matched_components: WeakKeyDictionary[DOMNode, MatchedParts] = WeakKeyDictionary()

    def set_variables(self, variables: dict[str, str]) -> None:
        """Set the variables. If they do not differ from the old ones, the sources are not parsed again."""
        if variables != self._variables:
            super().set_variables(variables)
            self._require_parse = True

    def reparse(self) -> None:
        """Parse new sources, or all after a change of variables. If that raises, the old rules stay."""
        if self._require_parse:
            self.parse()

    def apply(self, node: DOMNode, *, animate: bool = False, cache: dict[Any, Any] | None = None) -> None:
        """Apply the rules that name the node's type, id or classes, if the matched parts have changed."""
        if self.rules is not self._all:
            self._all = self.rules
            self._order = {rule: at for at, rule in enumerate(self._all)}
            for cache_of_old_rules in (
                self._narrowed,
                self._parts_by_names,
                self._parts_by_components,
                self._matched,
                self._matched_components,
            ):
                cache_of_old_rules.clear()
        if isinstance(node, (App, Widget)):  # not a component class, which is a new node each time
            if not isinstance(node.css_path_nodes[0], App):
                return  # not mounted yet; Textual styles it when it is mounted
            state = _matched_names(node, self._selector_parts(self._names(node)))
            if self._matched.get(node) == state and self._matched_components.get(node) == self._match_components(node):
                return
            self._matched[node] = state
        self._rules = self._rules_naming(self._names(node))
        try:
            super().apply(node, animate=animate, cache=cache)
        finally:
            self._rules = self._all

    def _process_component_classes(self, node: DOMNode) -> None:
        self._rules = self._all
        state = self._match_components(node)
        if self._matched_components.get(node) != state:
            super()._process_component_classes(node)
            self._matched_components[node] = state

    def _match_components(self, node: DOMNode) -> MatchedParts:
        """Return the matched parts of a node, for the rules of its component classes."""
        if not (components := node._get_component_classes()):
            return []
        if (parts := self._parts_by_components.get(components)) is None:
            component_parts = [
                self._selector_parts(self._names(self._component_node(component))) for component in components
            ]
            named, pseudo_classes = zip(*component_parts, strict=True)
            parts = self._parts_by_components[components] = (
                frozenset().union(*named),
                frozenset().union(*pseudo_classes),
            )
        return _matched_names(node, parts)

    def _selector_parts(self, names: frozenset[str]) -> SelectorParts:
        """Return the names and pseudo-classes in the selectors of all rules that contain one of `names`."""
        if (parts := self._parts_by_names.get(names)) is None:
            selectors = [
                selector
                for rule in self._rules_naming(names)
                for selector_set in rule.selector_set
                for selector in selector_set.selectors
            ]
            signs = {SelectorType.CLASS: ".", SelectorType.ID: "#"}
            named = frozenset(
                (".-textual-system", *(signs.get(selector.type, "") + selector.name for selector in selectors))
            )
            parts = self._parts_by_names[names] = (
                named,
                frozenset().union(*(selector.pseudo_classes for selector in selectors)),
            )
        return parts

    def _component_node(self, component: str) -> DOMNode:
        if (node := self._component_nodes.get(component)) is None:
            node = self._component_nodes[component] = DOMNode(classes=component)
        return node

    def _names(self, node: DOMNode) -> frozenset[str]:
        """Return the node's type, id and classes that occur in rules."""
        return frozenset(self.rules_map.keys() & node._selector_names)

    def _rules_naming(self, names: frozenset[str]) -> list[RuleSet]:
        if (rules := self._narrowed.get(names)) is None:
            rule_sets = {rule for name in names for rule in self.rules_map[name]}
            rules = self._narrowed[names] = sorted(rule_sets, key=self._order.__getitem__)
        return rules


def _matched_names(node: DOMNode, parts: SelectorParts) -> MatchedParts:
    """Return which of the names and pseudo-classes in `parts` the node has, and which each of its ancestors has."""
    names, pseudo_classes = parts
    return [
        (
            names & css_path_node._selector_names,
            [name for name in pseudo_classes if css_path_node.has_pseudo_class(name)],
        )
        for css_path_node in node.css_path_nodes
    ]
