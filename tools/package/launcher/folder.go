package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const noexec = 8 // ST_NOEXEC, statvfs(3)

// place is a folder for unpacked trees.
type place struct {
	dir string
	// borrowed: the folder belongs to root, so only an existing tree in it is used.
	borrowed bool
}

var roots = []string{"/var/cache/raidbench", "/opt/raidbench", "/root/.cache/raidbench"}

// places returns the folders to try, in order. A user runs the tree that root has unpacked if there is one, because the
// root helper of that user runs only files that no other user can replace.
func places() []place {
	var found []place
	if dir := os.Getenv("RAIDBENCH_UNPACK_DIR"); dir != "" {
		return []place{{dir: dir}}
	}
	for _, dir := range roots {
		found = append(found, place{dir: dir, borrowed: os.Geteuid() != 0})
	}
	if os.Geteuid() == 0 {
		return found
	}
	if cache := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(cache) {
		found = append(found, place{dir: filepath.Join(cache, "raidbench")})
	} else if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		found = append(found, place{dir: filepath.Join(home, ".cache", "raidbench")})
	}
	return append(found, place{dir: fmt.Sprintf("/var/tmp/raidbench-%d", os.Geteuid())})
}

// private creates a folder that only this user and root can write to, and returns its real path.
func private(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o755 // the part of raidbench that gives up root privileges reads it
	}
	if err := makeAll(dir, mode); err != nil {
		return "", err
	}
	return owned(dir, os.Geteuid())
}

// owned returns the real path of a folder of that user. It fails if another user can write to it, or for noexec.
func owned(dir string, uid int) (string, error) {
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return "", err
	}
	dir = filepath.Join(parent, filepath.Base(dir))
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	switch {
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", dir)
	case owner(info) != uid:
		return "", fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o022 != 0:
		return "", fmt.Errorf("other users can write to %s", dir)
	}
	for above := parent; ; above = filepath.Dir(above) {
		if err := guarded(above, uid); err != nil {
			return "", err
		}
		if above == "/" {
			break
		}
	}
	var mounted syscall.Statfs_t
	if err := syscall.Statfs(dir, &mounted); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	if mounted.Flags&noexec != 0 {
		return "", fmt.Errorf("%s is on a filesystem mounted noexec", dir)
	}
	return dir, nil
}

// guarded returns an error if another user can replace entries of this folder, which is above an unpacked tree.
func guarded(dir string, uid int) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	open := os.FileMode(0o002)
	if uid == 0 {
		open = 0o022 // for a user, ~/.cache may be writable for the group of the user
	}
	if owner(info) != uid && owner(info) != 0 {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	if info.Mode().Perm()&open != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("other users can write to %s", dir)
	}
	return nil
}

func owner(info os.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// makeAll creates a folder and its missing parents with this mode, independent of the umask. Existing ones keep theirs.
func makeAll(dir string, mode os.FileMode) error {
	if err := os.Mkdir(dir, mode); err == nil {
		return os.Chmod(dir, mode)
	} else if errors.Is(err, os.ErrExist) {
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := makeAll(filepath.Dir(dir), mode); err != nil {
		return err
	}
	return makeAll(dir, mode)
}
