// Package facts says what machine and what software a run was made on: what is
// needed to judge its numbers, and nothing that names the machine.
package facts

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// Facts is on top of every result.
type Facts struct {
	CPU        string            `json:"cpu"`
	Cores      int               `json:"cores"`
	AVX2       bool              `json:"avx2"`
	AVX512     bool              `json:"avx512"`
	Caches     string            `json:"caches"`
	Memory     string            `json:"memory"`
	FileSystem string            `json:"file_system"`
	Kernel     string            `json:"kernel"`
	HugePages  string            `json:"huge_pages"`
	Go         string            `json:"go"`
	OS         string            `json:"os"`
	Date       string            `json:"date"`
	Load       string            `json:"load_at_begin"` // of the machine, 1 minute
	Modules    map[string]string `json:"modules"`       // versions of the peers
}

// Read gathers the facts, with the file system of dir, and the versions of those
// modules that the program was built with.
func Read(dir string, modules ...string) Facts {
	f := Facts{
		CPU: cpuName(), Cores: runtime.NumCPU(), AVX2: cpu.X86.HasAVX2, AVX512: cpu.X86.HasAVX512F,
		Caches: caches(), Memory: memory(), FileSystem: fileSystem(dir), Kernel: kernel(),
		HugePages: chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
		Go:        runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		Date: time.Now().UTC().Format("2006-01-02 15:04 UTC"), Modules: map[string]string{},
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		f.Load, _, _ = strings.Cut(string(b), " ")
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if slices.Contains(modules, d.Path) {
				f.Modules[d.Path] = d.Version
			}
		}
	}
	return f
}

// Class names the machine by its processor: "amd-epyc-2c".
func (f Facts) Class() string {
	var b strings.Builder
	name := strings.NewReplacer("(R)", "", "(TM)", "", "(r)", "", "(tm)", "").Replace(f.CPU)
	name, _, _ = strings.Cut(name, "@")
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return fmt.Sprintf("%s-%dc", strings.Trim(b.String(), "-"), f.Cores)
}

// Lines are the facts as text.
func (f Facts) Lines() []string {
	simd := "no AVX2"
	if f.AVX2 {
		simd = "AVX2"
	}
	if f.AVX512 {
		simd += ", AVX-512"
	}
	var peers []string
	for _, m := range slices.Sorted(maps.Keys(f.Modules)) {
		peers = append(peers, strings.TrimPrefix(m, "github.com/")+" "+f.Modules[m])
	}
	return []string{
		fmt.Sprintf("CPU          %s, %d cores, %s, caches %s", f.CPU, f.Cores, simd, f.Caches),
		"memory       " + f.Memory + ", huge pages " + f.HugePages,
		"file system  " + f.FileSystem,
		"kernel       " + f.Kernel + ", " + f.OS,
		"Go           " + f.Go,
		"date         " + f.Date + ", load at the begin " + f.Load,
		"peers        " + strings.Join(peers, ", "),
	}
}

func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}

func caches() string {
	var out []string
	for i := range 8 {
		base := fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/", i)
		level, kind, size := word(base+"level"), word(base+"type"), word(base+"size")
		if level == "" {
			break
		}
		if kind != "Instruction" {
			out = append(out, "L"+level+" "+size)
		}
	}
	if out == nil {
		return "unknown"
	}
	return strings.Join(out, " ")
}

func memory() string {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if w := strings.Fields(line); len(w) > 1 && w[0] == "MemTotal:" {
			kib, _ := strconv.ParseFloat(w[1], 64)
			return fmt.Sprintf("%.0f GiB", kib/(1<<20))
		}
	}
	return "unknown"
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	text := func(b []byte) string { s, _, _ := bytes.Cut(b, []byte{0}); return string(s) }
	release, _, _ := strings.Cut(text(u.Release[:]), "-")
	return text(u.Sysname[:]) + " " + release
}

// fileSystem finds the mount that dir lies on: its type and its options.
func fileSystem(dir string) string {
	var st unix.Stat_t
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || unix.Stat(dir, &st) != nil {
		return "unknown"
	}
	want := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	for line := range strings.Lines(string(mounts)) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if ok && len(l) > 5 && len(r) > 0 && l[2] == want {
			return r[0] + " (" + l[5] + ")"
		}
	}
	return "unknown"
}

// OnDisk reports whether dir lies on a disk, and not in memory.
func OnDisk(dir string) (bool, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false, err
	}
	kind := uint32(st.Type) // of 32 or 64 bits, by machine
	return kind != unix.TMPFS_MAGIC && kind != unix.RAMFS_MAGIC, nil
}

// FreeBytes is how much room there is at dir.
func FreeBytes(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Bavail) * int64(st.Bsize)
}

func word(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

// chosen reads a file of the form "a [b] c".
func chosen(path string) string {
	_, s, _ := strings.Cut(word(path), "[")
	s, _, ok := strings.Cut(s, "]")
	if !ok {
		return "unknown"
	}
	return s
}
