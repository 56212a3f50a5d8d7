//go:build faultfs && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside tells the second process of a campaign what it is.
const inside = "LEDGER_FAULTS_INSIDE"

// host runs the tests once more in a mount name space of its own, which ends
// with them whichever way they end, and all that was mounted in it with it.
func host() (code int, done bool) {
	if os.Getenv(inside) != "" || os.Geteuid() != 0 {
		return 0, false
	}
	fmt.Printf("faults: seed %d, full run: %t\n", *seed, *full)
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if err == nil {
		return 0, true
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return 1, true
	}
	fmt.Fprintln(os.Stderr, "faults: no mount name space:", err)
	return 0, false
}

// needs skips the test, and says why, where something that it needs is not there.
func needs(t *testing.T, mounts bool, tools ...string) {
	t.Helper()
	if mounts && os.Getenv(inside) == "" {
		t.Skip("not run: mounting needs root, and a mount name space")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("not run: there is no %s", tool)
		}
	}
}

// tmpfs mounts a file system in memory with the given options.
func tmpfs(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check(t, unix.Mount("faults", dir, "tmpfs", 0, options))
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// A volume is a file system in an image file in memory, whose power can be cut.
type volume struct {
	t     *testing.T
	kind  string
	image string
	dir   string
}

// format makes and mounts a volume of the kind "ext4" or "xfs".
func format(t *testing.T, kind string) *volume {
	t.Helper()
	needs(t, true, "mkfs."+kind, "losetup")
	v := &volume{t: t, kind: kind, image: filepath.Join(tmpfs(t, "size=400m"), "image"), dir: t.TempDir()}
	size := int64(64 << 20)
	args := []string{"-q", "-F", v.image}
	if kind == "xfs" {
		size, args = 320<<20, []string{"-q", "-f", v.image}
	}
	check(t, os.WriteFile(v.image, nil, 0o600))
	check(t, os.Truncate(v.image, size))
	if out, err := exec.Command("mkfs."+kind, args...).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.%s: %v\n%s", kind, err, out)
	}
	if err := v.mount(); err != nil {
		t.Skipf("not run: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(v.dir, unix.MNT_DETACH) })
	return v
}

// mount goes by mount(8), which finds a loop device and lets it go with the mount.
func (v *volume) mount() error {
	out, err := exec.Command("mount", "-t", v.kind, "-o", "loop", v.image, v.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mount of a %s image: %w\n%s", v.kind, err, out)
	}
	return nil
}

// restart is what the power's coming back is.
func (v *volume) restart() {
	v.t.Helper()
	check(v.t, unix.Unmount(v.dir, 0))
	check(v.t, v.mount())
}
