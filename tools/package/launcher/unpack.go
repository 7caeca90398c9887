package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

const startWriting = 2 // SYNC_FILE_RANGE_WRITE, sync_file_range(2)

// ready returns the tree of a place, after unpacking it if it is missing.
func ready(at place) (string, error) {
	if at.borrowed {
		return lent(at.dir)
	}
	base, err := private(at.dir)
	if err != nil {
		return "", err
	}
	tree := filepath.Join(base, digest[:16])
	if _, err := os.Lstat(tree); err == nil {
		return owned(tree, os.Geteuid())
	}
	if problem := libcProblem(); problem != "" {
		fmt.Fprintln(os.Stderr, problem)
		os.Exit(1)
	}
	if err := unpack(base, tree); err != nil {
		return "", err
	}
	removeOld(base, tree)
	return tree, nil
}

// lent returns the tree that root has unpacked there. Its error is not shown, because the folder is only a possibility.
func lent(dir string) (string, error) {
	tree := filepath.Join(dir, digest[:16])
	if _, err := os.Stat(filepath.Join(tree, interpreter)); err != nil {
		return "", errUnasked
	}
	tree, err := owned(tree, 0)
	if err != nil {
		return "", errUnasked
	}
	return tree, nil
}

var errUnasked = errors.New("root has unpacked nothing")

// unpack creates the tree under a temporary name and renames it when it is complete. If another process was faster, its
// tree is used.
func unpack(base, tree string) error {
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(stopped)
	fresh, err := os.MkdirTemp(base, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := extract(bytes.NewReader(payload), fresh, stopped); err != nil {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return fmt.Errorf("there is not enough free space in %s", base)
		}
		return err
	}
	if err := settle(fresh); err != nil {
		return err
	}
	err = os.Rename(fresh, tree)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return err
}

// settle syncs a tree to the disk, so that after a power failure it is complete or missing. It syncs the files of the tree
// alone: syncfs would wait for everything that others have written to the filesystem.
func settle(tree string) error {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o755
	}
	if err := os.Chmod(tree, mode); err != nil {
		return err
	}
	return filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !(entry.IsDir() || entry.Type().IsRegular()) {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

func extract(from io.Reader, to string, stopped <-chan os.Signal) error {
	plain, err := zstd.NewReader(from)
	if err != nil {
		return err
	}
	defer plain.Close()
	for entries := tar.NewReader(plain); ; {
		entry, err := entries.Next()
		select {
		case got := <-stopped:
			os.RemoveAll(to)
			os.Exit(128 + int(got.(syscall.Signal)))
		default:
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := put(entry, entries, filepath.Join(to, entry.Name)); err != nil {
			return err
		}
	}
}

func put(entry *tar.Header, data io.Reader, path string) error {
	switch entry.Typeflag {
	case tar.TypeDir:
		return makeAll(path, 0o755)
	case tar.TypeSymlink:
		return os.Symlink(entry.Linkname, path)
	}
	mode := os.FileMode(entry.Mode) & 0o755
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, data)
	syscall.SyncFileRange(int(file.Fd()), 0, 0, startWriting) // a hint: settle then waits for all files at once
	return errors.Join(err, file.Chmod(mode), file.Close())
}
