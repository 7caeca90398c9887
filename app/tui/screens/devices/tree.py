"""The tree of devices: filled by difference, so that cursor and open branches stay where they are."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from app.tui.screens.devices.rows import TreeLine


class DeviceTree(Tree[TreeLine]):
    """Controllers, arrays and drives. Labels are never markup."""

    def __init__(self) -> None:
        super().__init__(Text("devices"), id="devices")  # markup would load all emoji: 1 MiB
        self.show_root = False
        self.guide_depth = 2
        self._wanted: str | None = None

    def on_mount(self) -> None:
        """Without UTF-8 the guides are left out."""
        self.show_guides = not getattr(self.app, "ascii", False)
        self.auto_expand = True

    def show(self, nodes: tuple[TreeLine, ...]) -> None:
        """Bring the branches up to date; the same nodes cost nothing."""
        if self.cursor_node is not None and self.cursor_node.data is not None:
            self._wanted = self.cursor_node.data.key
        self._sync(self.root, nodes)
        self.root.expand()
        self.call_after_refresh(self._cursor_back)

    def _sync(self, parent: TreeNode[TreeLine], nodes: tuple[TreeLine, ...]) -> None:
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

    def _add(self, parent: TreeNode[TreeLine], node: TreeLine) -> None:
        child = parent.add(self._label(node), data=node, expand=True, allow_expand=bool(node.children))
        for below in node.children:
            self._add(child, below)

    def _label(self, node: TreeLine) -> Text:
        return Text(node.label, no_wrap=True, overflow="ellipsis", end="")

    def render_label(self, node: TreeNode[TreeLine], base_style: Style, style: Style) -> Text:
        """The label in the colour of its state; the cursor has a sign, too."""
        tones = {"warning": "$text-warning", "bad": "$text-error", "accent": "$text-primary", "good": "$text-success"}
        variables = self.app.theme_variables
        label = Text(node.data.label if node.data else "", no_wrap=True, end="")
        sign = ">" if node is self.cursor_node else " "
        if node.data is not None and node.data.children:
            sign += "- " if node.is_expanded else "+ "
        color = variables.get(tones.get(node.data.tone if node.data else "", "").lstrip("$"))
        text = Text.assemble(sign, label, end="")
        depth = -1
        above = node.parent
        while above is not None:
            depth, above = depth + 1, above.parent
        if self.size.width:  # nothing is behind the edge: no scrolling to the side
            text.truncate(max(8, self.size.width - depth * self.guide_depth), overflow="ellipsis")
        text.stylize(style)
        if color is not None and color.startswith("#"):
            text.stylize(Style(color=color))
        return text

    def _cursor_back(self) -> None:
        """The cursor where it was, or on the first line; told in any case, since its line may be the same."""
        known = (node for node in self._tree_nodes.values() if node.data is not None and node.data.key == self._wanted)
        node = next(known, self.root.children[0] if self.root.children else None)
        if node is not None:
            self.move_cursor(node)
            self.post_message(self.NodeHighlighted(node))
