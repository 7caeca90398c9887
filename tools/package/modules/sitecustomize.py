"""Imports the modules of raidbench from one archive instead of thousands of files. Runs at each start of the program.

In front of the archive is a marshalled index: name -> (offset, size, is a package, path below the library). Files that
are not Python sources, such as extension modules, stay in their folders and are found as always.

Before the archive is open, only built-in and frozen modules can be imported, so annotations are strings.
"""

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import FileFinder, _get_supported_file_loaders  # type: ignore[attr-defined]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.resources.abc import ResourceReader  # type: ignore[import-not-found,unused-ignore]
    from types import CodeType, ModuleType

ARCHIVE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "modules.bin")

_LOADERS = _get_supported_file_loaders()


class ModuleArchive:
    """Finder and loader of the modules in the archive."""

    def __init__(self, path: str) -> None:
        self.archive = path
        """Path of the archive. The name is that of zipimport: the root helper checks who owns this file."""
        self._library = os.path.dirname(path) + "/"
        # The file stays open: a trial must end well even if the program was removed or replaced by then.
        self._data = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        size = int.from_bytes(os.pread(self._data, 8, 0), "little")
        self._index: dict[str, tuple[int, int, bool, str]] = marshal.loads(os.pread(self._data, size, 8))
        self._start = 8 + size

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Return the spec of a module in the archive, None for other modules."""
        entry = self._index.get(name)
        if entry is None:
            return None
        origin = self._library + entry[3]
        spec = ModuleSpec(name, self, origin=origin, is_package=entry[2])  # type: ignore[arg-type]
        spec.has_location = True
        if entry[2]:
            spec.submodule_search_locations = [os.path.dirname(origin)]
        return spec

    def create_module(self, spec: "ModuleSpec") -> None:
        """Let Python create the module."""

    def exec_module(self, module: "ModuleType") -> None:
        """Run the code of a module."""
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, name: str) -> "CodeType":
        """Return the code of a module in the archive."""
        offset, size = self._index[name][:2]
        code: CodeType = marshal.loads(os.pread(self._data, size, self._start + offset))
        return code

    def get_source(self, name: str) -> None:
        """Return None: the archive has no sources."""

    def get_filename(self, name: str) -> str:
        """Return the path at which the source of a module would be."""
        return self._library + self._index[name][3]

    def is_package(self, name: str) -> bool:
        """Return whether a module in the archive is a package."""
        return self._index[name][2]

    def get_resource_reader(self, name: str) -> "ResourceReader":
        """Return the reader of the data files in the folder of a package."""
        from importlib.resources.readers import FileReader  # type: ignore[import-not-found,unused-ignore]

        place = type("Place", (), {"path": self.get_filename(name)})
        return FileReader(place)  # type: ignore[arg-type]  # of the loader, only `path` is read

    def modules_in(self, folder: str, prefix: str) -> "Iterator[tuple[str, bool]]":
        """Yield (name, is a package) of the modules whose sources were directly in a folder, as pkgutil does."""
        for name, (_, _, package, path) in self._index.items():
            place = os.path.dirname(self._library + path)
            if (os.path.dirname(place) if package else place) == folder:
                yield prefix + name.rpartition(".")[2], package

    def path_hook(self, folder: str) -> "FolderFinder":
        """Return the finder of a folder in the library. Raises ImportError for other folders."""
        if not folder.startswith(self._library):
            raise ImportError(folder)
        return FolderFinder(self, folder)


class FolderFinder:
    """Finder of the files that stay in a folder of the library, and lister of its modules in the archive."""

    def __init__(self, modules: ModuleArchive, folder: str) -> None:
        self._modules, self._folder = modules, folder.rstrip("/")
        self._files = FileFinder(folder, *_LOADERS)

    def find_spec(self, name: str, target: "ModuleType | None" = None) -> "ModuleSpec | None":
        """Return the spec of a module that is a file."""
        return self._files.find_spec(name, target)

    def invalidate_caches(self) -> None:
        """Read the folder again at the next search."""
        self._files.invalidate_caches()

    def iter_modules(self, prefix: str = "") -> list[tuple[str, bool]]:
        """Return (name, is a package) of the modules in the archive that belong to this folder."""
        return sorted(self._modules.modules_in(self._folder, prefix))


_archive = ModuleArchive(ARCHIVE)
sys.meta_path.insert(2, _archive)  # after built-in and frozen modules
sys.path_hooks.insert(0, _archive.path_hook)
sys.path_importer_cache.clear()
