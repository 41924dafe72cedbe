// Tlogverify reads a log over HTTP and checks it with golang.org/x/mod/sumdb, whose authors have
// never heard of ours: the checkpoint's signature, every tile and every entry against the signed
// root, proofs of inclusion and of consistency for places drawn by chance, and that an older
// checkpoint, if one is given, is a beginning of the log.
//
// Usage: tlogverify http://host/log <verifier key> [file with an older checkpoint]. It exits with 0
// when all holds, 2 when something does not, 3 when it could not read the log.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	height      = 8
	width       = 1 << height
	inclusions  = 200
	consistency = 50
	seed        = 1
)

func main() {
	url, key := os.Args[1], os.Args[2]
	verifier, err := note.NewVerifier(key)
	refuse("key", err)
	tree := open(get(url+"/checkpoint"), verifier)
	reader := tlog.TileHashReader(tree, &tiles{url, map[tlog.Tile][]byte{}})
	if len(os.Args) > 3 {
		older, err := os.ReadFile(os.Args[3])
		if err != nil {
			leave(3, os.Args[3], err)
		}
		checkBeginning(tree, open(older, verifier), reader)
	}
	hashes := checkEntries(url, tree, reader)
	chance := rand.New(rand.NewSource(seed))
	for n := 0; n < inclusions; n++ {
		checkInclusion(tree, drawn(chance, n, tree.N)-1, hashes, reader)
	}
	for n := 0; n < consistency; n++ {
		size := drawn(chance, n, tree.N)
		hash, err := tlog.TreeHash(size, reader)
		refuse("old root", err)
		checkBeginning(tree, tlog.Tree{N: size, Hash: hash}, reader)
	}
	fmt.Println("ok", tree.N, "entries", inclusions, "inclusions", consistency, "consistencies")
}

// drawn gives the first and the last place, then places by chance, from 1 to most.
func drawn(chance *rand.Rand, n int, most int64) int64 {
	switch n {
	case 0:
		return 1
	case 1:
		return most
	}
	return 1 + chance.Int63n(most)
}

func open(raw []byte, verifier note.Verifier) tlog.Tree {
	signed, err := note.Open(raw, note.VerifierList(verifier))
	refuse("checkpoint", err)
	return parseCheckpoint(signed.Text)
}

// checkEntries reads every bundle, and holds each entry against its hash in the tiles, which the
// reader holds against the signed root.
func checkEntries(url string, tree tlog.Tree, reader tlog.HashReader) (hashes []tlog.Hash) {
	for first := int64(0); first < tree.N; first += width {
		count := tree.N - first
		if count > width {
			count = width
		}
		tile := tlog.Tile{H: height, L: 0, N: first / width, W: int(count)}
		path := strings.Replace(ours(tile), "tile/0/", "tile/entries/", 1)
		leaves := cut(get(url + "/" + path))
		if int64(len(leaves)) != count {
			leave(2, path, fmt.Errorf("%d entries instead of %d", len(leaves), count))
		}
		places := make([]int64, count)
		for at := range places {
			places[at] = tlog.StoredHashIndex(0, first+int64(at))
		}
		stored, err := reader.ReadHashes(places)
		refuse("tiles", err)
		for at, leaf := range leaves {
			hash := tlog.RecordHash(leaf)
			if hash != stored[at] {
				leave(2, path, fmt.Errorf("entry %d is not the one in the tree", first+int64(at)))
			}
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

func checkInclusion(tree tlog.Tree, index int64, hashes []tlog.Hash, reader tlog.HashReader) {
	proof, err := tlog.ProveRecord(tree.N, index, reader)
	refuse("proof", err)
	refuse("inclusion", tlog.CheckRecord(proof, tree.N, tree.Hash, index, hashes[index]))
}

// checkBeginning proves that a smaller tree is the beginning of this one.
func checkBeginning(tree, older tlog.Tree, reader tlog.HashReader) {
	if older.N > tree.N {
		leave(2, "consistency", fmt.Errorf("%d entries after %d", tree.N, older.N))
	}
	proof, err := tlog.ProveTree(tree.N, older.N, reader)
	refuse("proof", err)
	refuse("consistency", tlog.CheckTree(proof, tree.N, tree.Hash, older.N, older.Hash))
}

func parseCheckpoint(text string) tlog.Tree {
	// tlog's own notation has another first line; the rest is the same
	lines := strings.Split(text, "\n")
	tree, err := tlog.ParseTree([]byte("go.sum database tree\n" + strings.Join(lines[1:], "\n")))
	refuse("checkpoint text", err)
	return tree
}

func cut(bundle []byte) (leaves [][]byte) {
	for len(bundle) > 1 {
		size := 2 + int(binary.BigEndian.Uint16(bundle))
		if size > len(bundle) {
			break
		}
		leaves, bundle = append(leaves, bundle[2:size]), bundle[size:]
	}
	if len(bundle) > 0 {
		leave(2, "bundle", fmt.Errorf("%d bytes are left over", len(bundle)))
	}
	return leaves
}

// tiles come over HTTP once; what is kept was found under the signed root.
type tiles struct {
	url  string
	kept map[tlog.Tile][]byte
}

func (t *tiles) Height() int { return height }

func (t *tiles) SaveTiles(found []tlog.Tile, data [][]byte) {
	for i, tile := range found {
		t.kept[tile] = data[i]
	}
}

func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	for i, tile := range wanted {
		if known, ok := t.kept[tile]; ok {
			data[i] = known
		} else {
			data[i] = get(t.url + "/" + ours(tile))
		}
	}
	return data, nil
}

// ours drops the height from a tile's path: here it is always 8.
func ours(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
}

func get(url string) []byte {
	answer, err := http.Get(url)
	if err != nil {
		leave(3, url, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		leave(3, url, fmt.Errorf("%s: %v", answer.Status, err))
	}
	return body
}

func refuse(what string, err error) {
	if err != nil {
		leave(2, what, err)
	}
}

func leave(status int, what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(status)
}
