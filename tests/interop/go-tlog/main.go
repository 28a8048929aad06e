// tlog-peer: notes, trees, tiles and proofs by golang.org/x/mod/sumdb, for tests of the transparency log.
//
//	tlog-peer make DIR    writes vectors that sotto-vectors reads
//	tlog-peer check DIR   checks a log that sotto wrote: checkpoint, tiles, entries, proofs
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A tree in memory.
type tree struct{ hashes []tlog.Hash }

func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		out = append(out, t.hashes[i])
	}
	return out, nil
}

func (t *tree) add(n int64, entry []byte) {
	more, err := tlog.StoredHashes(n, entry, t)
	must(err)
	t.hashes = append(t.hashes, more...)
}

func b64(h tlog.Hash) string { return base64.StdEncoding.EncodeToString(h[:]) }

func b64s(hs []tlog.Hash) []string {
	out := []string{}
	for _, h := range hs {
		out = append(out, b64(h))
	}
	return out
}

func write(dir, name string, v any) {
	text, err := json.MarshalIndent(v, "", " ")
	must(err)
	must(os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o666))
}

// Reads zeros and counts: keys and so all files are the same in each run.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n
	}
	return len(p), nil
}

func makeProofs(dir string) {
	t := &tree{}
	var inclusion, consistency []any
	roots := []tlog.Hash{}
	for n := int64(0); n < 300; n++ {
		t.add(n, []byte(fmt.Sprint("entry ", n)))
		root, err := tlog.TreeHash(n+1, t)
		must(err)
		roots = append(roots, root)
	}
	for _, size := range []int64{1, 2, 3, 7, 8, 13, 255, 256, 257, 300} {
		for _, i := range []int64{0, 1, 6, size / 2, size - 1} {
			if i >= size {
				continue
			}
			proof, err := tlog.ProveRecord(size, i, t)
			must(err)
			leaf := tlog.RecordHash([]byte(fmt.Sprint("entry ", i)))
			row := map[string]any{"id": fmt.Sprint("go-inclusion/", size, "/", i), "leafIdx": i, "treeSize": size,
				"root": b64(roots[size-1]), "leafHash": b64(leaf), "proof": b64s(proof), "wantErr": false}
			inclusion = append(inclusion, row)
			bad := map[string]any{"id": fmt.Sprint("go-inclusion-extra/", size, "/", i), "leafIdx": i, "treeSize": size,
				"root": b64(roots[size-1]), "leafHash": b64(leaf), "proof": append(b64s(proof), b64(leaf)), "wantErr": true}
			inclusion = append(inclusion, bad)
		}
		for _, old := range []int64{1, 2, size / 2, size - 1, size} {
			if old < 1 || old > size {
				continue
			}
			proof, err := tlog.ProveTree(size, old, t)
			must(err)
			consistency = append(consistency, map[string]any{"id": fmt.Sprint("go-consistency/", old, "/", size), "size1": old,
				"size2": size, "root1": b64(roots[old-1]), "root2": b64(roots[size-1]), "proof": b64s(proof), "wantErr": false})
			if old < size {
				consistency = append(consistency, map[string]any{"id": fmt.Sprint("go-consistency-fork/", old, "/", size), "size1": old,
					"size2": size, "root1": b64(roots[old]), "root2": b64(roots[size-1]), "proof": b64s(proof), "wantErr": true})
			}
		}
	}
	write(dir, "inclusion.json", inclusion)
	write(dir, "consistency.json", consistency)
}

func makeNotes(dir string) {
	var rows, keys []any
	random := &counter{}
	for i, text := range []string{"one line\n", "two\nlines\n", "an empty line\n\nwithin\n", "em dash \u2014 and \u00fcmlaut\n"} {
		skey, vkey, err := note.GenerateKey(random, fmt.Sprint("go.example/", i))
		must(err)
		skey2, vkey2, err := note.GenerateKey(random, fmt.Sprint("second.example/", i))
		must(err)
		signer, err := note.NewSigner(skey)
		must(err)
		second, err := note.NewSigner(skey2)
		must(err)
		signed, err := note.Sign(&note.Note{Text: text}, signer, second)
		must(err)
		name := fmt.Sprint("go.example/", i)
		rows = append(rows, map[string]any{"id": fmt.Sprint("go-note/", i), "note": string(signed),
			"trusted_vkeys": []string{vkey}, "valid": true, "verified_signers": []string{name}},
			map[string]any{"id": fmt.Sprint("go-note-changed/", i), "note": "x" + string(signed), "trusted_vkeys": []string{vkey}, "valid": false},
			map[string]any{"id": fmt.Sprint("go-note-two/", i), "note": string(signed), "trusted_vkeys": []string{vkey, vkey2},
				"valid": true, "verified_signers": []string{name, fmt.Sprint("second.example/", i)}})
		keys = append(keys, map[string]any{"vkey": vkey, "name": name, "key_id": strings.Split(vkey, "+")[1], "alg": 1, "skey_test_only": skey})
	}
	write(dir, "signed_note.json", rows)
	write(dir, "vkey_encoding.json", map[string]any{"valid": keys, "invalid": []string{"go.example/0", "go.example/0+00000000+AQ=="}})
}

// A whole log: checkpoints of several sizes, their tiles and the entries of the smaller ones. The last tree has two levels of tiles.
func makeLog(dir string) {
	const origin = "go.example/log"
	t := &tree{}
	skey, vkey, err := note.GenerateKey(&counter{100}, origin)
	must(err)
	signer, err := note.NewSigner(skey)
	must(err)
	checkpoints, tiles, bundles := map[string]string{}, map[string]string{}, map[string]string{}
	var bundle []byte
	for n := int64(1); n <= 258; n++ {
		entry := []byte(fmt.Sprint("entry ", n))
		t.add(n-1, entry)
		bundle = append(binary.BigEndian.AppendUint16(bundle, uint16(len(entry))), entry...)
		if n != 1 && n != 5 && n != 258 {
			continue
		}
		root, err := tlog.TreeHash(n, t)
		must(err)
		signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", origin, n, b64(root))}, signer)
		must(err)
		checkpoints[fmt.Sprint(n)] = string(signed)
		for _, tile := range tlog.NewTiles(8, 0, n) {
			data, err := tlog.ReadTileData(tile, t)
			must(err)
			tiles[strings.Replace(tile.Path(), "tile/8/", "tile/", 1)] = hex.EncodeToString(data)
		}
		if n < 256 {
			bundles[fmt.Sprintf("tile/entries/000.p/%d", n)] = hex.EncodeToString(bundle)
		}
	}
	write(dir, "log.json", map[string]any{"origin": origin, "vkey": vkey, "skey_test_only": skey, "checkpoints": checkpoints,
		"tiles_hex": tiles, "entry_bundles_hex": bundles})
}

// Tiles of a directory, as sumdb's client reads them: the same bytes under other paths.
type files struct{ dir string }

func (f files) Height() int { return 8 }

func (f files) SaveTiles(tiles []tlog.Tile, data [][]byte) {}

func (f files) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var out [][]byte
	for _, t := range tiles {
		path := strings.Replace(t.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(f.dir, path))
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

// A proof of sotto's: "c2sp.org/tlog-proof@v1", index, hashes.
func readProof(path string) (int64, []tlog.Hash) {
	text, err := os.ReadFile(path)
	must(err)
	lines := strings.Split(string(text), "\n")
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
	must(err)
	var proof []tlog.Hash
	for _, line := range lines[2:] {
		if line == "" {
			break
		}
		h, err := tlog.ParseHash(line)
		must(err)
		proof = append(proof, h)
	}
	return index, proof
}

func checkpoint(dir, name string, known note.Verifiers) (int64, tlog.Hash) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	must(err)
	n, err := note.Open(text, known)
	must(err)
	lines := strings.Split(n.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := tlog.ParseHash(lines[2])
	must(err)
	return size, root
}

func check(dir string) {
	vkey, err := os.ReadFile(filepath.Join(dir, "vkey"))
	must(err)
	verifier, err := note.NewVerifier(strings.TrimSpace(string(vkey)))
	must(err)
	known := note.VerifierList(verifier)
	size, root := checkpoint(dir, "checkpoint", known)
	old, oldRoot := checkpoint(dir, "old-checkpoint", known)
	reader := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, files{dir})
	proof, err := tlog.ProveTree(size, old, reader) // from sotto's tiles, each checked against its root
	must(err)
	must(tlog.CheckTree(proof, size, root, old, oldRoot))
	var bundle []byte
	for n := int64(0); n < size; n++ {
		if n%256 == 0 {
			name := fmt.Sprintf("tile/entries/%03d", n/256)
			if size-n < 256 {
				name += fmt.Sprint(".p/", size-n)
			}
			bundle, err = os.ReadFile(filepath.Join(dir, name))
			must(err)
		}
		length := binary.BigEndian.Uint16(bundle)
		entry := bundle[2 : 2+length]
		bundle = bundle[2+length:]
		hashes, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, n)})
		must(err)
		leaf := tlog.RecordHash(entry)
		if !bytes.Equal(leaf[:], hashes[0][:]) {
			log.Fatal("entry ", n, " is not its leaf")
		}
	}
	proofs, err := filepath.Glob(filepath.Join(dir, "proof-*"))
	must(err)
	for _, path := range proofs {
		index, proof := readProof(path)
		hashes, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
		must(err)
		must(tlog.CheckRecord(proof, size, root, index, hashes[0]))
	}
	empty, err := tlog.TreeHash(0, &tree{})
	if want := sha256.Sum256(nil); err == nil && size == 0 && empty != tlog.Hash(want) {
		log.Fatal("another empty tree")
	}
	fmt.Printf("%d entries, %d proofs, all right\n", size, len(proofs))
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "make":
		makeProofs(os.Args[2])
		makeNotes(os.Args[2])
		makeLog(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "check":
		check(os.Args[2])
	default:
		log.Fatal("usage: tlog-peer make|check DIR")
	}
}
