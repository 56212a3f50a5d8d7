package disk

// zeroPiece is how much WriteZeros writes at a time. The page cache makes its
// folios as large as the writes, and a later small store into a large folio
// would write all of it back; so it is a page.
const zeroPiece = 4096

var zeros [zeroPiece]byte

// WriteZeros writes size zero bytes to the start of f: real zeros in 4 KiB
// pieces, so that the space is there, and a store into a mapping of f neither
// meets a full disk nor changes the file's map of blocks. It doesn't sync.
func WriteZeros(f File, size int64) error {
	for off := int64(0); off < size; off += zeroPiece {
		if _, err := f.WriteAt(zeros[:min(zeroPiece, size-off)], off); err != nil {
			return err
		}
	}
	return nil
}
