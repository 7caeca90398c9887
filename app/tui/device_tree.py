"""The tree of devices: filled by difference, so that cursor and open branches stay where they are."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from app.tui.devices_view import Node


class DeviceTree(Tree[Node]):
    """Controllers, arrays and drives. Labels are never markup."""

    def __init__(self) -> None:
        super().__init__("devices", id="devices")
        self.show_root = False
        self.guide_depth = 2

    def on_mount(self) -> None:
        """Without UTF-8 the guides are left out."""
        self.show_guides = not getattr(self.app, "ascii", False)
        self.auto_expand = True

    def show(self, nodes: tuple[Node, ...]) -> None:
        """Bring the branches up to date; the same nodes cost nothing."""
        wanted = self.cursor_node.data.key if self.cursor_node is not None and self.cursor_node.data else None
        self._sync(self.root, nodes)
        self.root.expand()
        self.call_after_refresh(self._cursor_to, wanted)

    def _sync(self, parent: TreeNode[Node], nodes: tuple[Node, ...]) -> None:
        old = list(parent.children)
        if [child.data.key if child.data else "" for child in old] != [node.key for node in nodes]:
            parent.remove_children()
            for node in nodes:
                self._add(parent, node)
            return
        for child, node in zip(old, nodes, strict=True):
            if child.data != node:
                child.data = node
                child.set_label(self._label(node))
                self._sync(child, node.children)
                child.allow_expand = bool(node.children)

    def _add(self, parent: TreeNode[Node], node: Node) -> None:
        child = parent.add(self._label(node), data=node, expand=True, allow_expand=bool(node.children))
        for below in node.children:
            self._add(child, below)

    def _label(self, node: Node) -> Text:
        return Text(node.label, no_wrap=True, overflow="ellipsis", end="")

    def render_label(self, node: TreeNode[Node], base_style: Style, style: Style) -> Text:
        """The label in the colour of its state; the cursor has a sign, too."""
        tones = {"warning": "$text-warning", "bad": "$text-error", "accent": "$text-primary", "good": "$text-success"}
        variables = self.app.theme_variables
        label = Text(node.data.label if node.data else "", no_wrap=True, end="")
        sign = ">" if node is self.cursor_node else " "
        if node.data is not None and node.data.children:
            sign += "- " if node.is_expanded else "+ "
        color = variables.get(tones.get(node.data.tone if node.data else "", "").lstrip("$"))
        text = Text.assemble(sign, label, end="")
        text.stylize(style)
        if color is not None and color.startswith("#"):
            text.stylize(Style(color=color))
        return text

    def _cursor_to(self, key: str | None) -> None:
        for node in self._tree_nodes.values():
            if node.data is not None and node.data.key == key:
                self.move_cursor(node)
                return
        if self.root.children:
            self.move_cursor(self.root.children[0])
