// Tlogverify reads a log over HTTP and checks it with golang.org/x/mod/sumdb, whose authors have
// never heard of ours: the checkpoint's signature, every tile against the signed root, every entry's
// inclusion, and that smaller sizes of the log are beginnings of it.
//
// Usage: tlogverify http://host/log <verifier key>. It exits with 0 when all holds, 2 when
// something does not, 3 when it could not read the log.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

func main() {
	url, key := os.Args[1], os.Args[2]
	verifier, err := note.NewVerifier(key)
	refuse("key", err)
	signed, err := note.Open(get(url+"/checkpoint"), note.VerifierList(verifier))
	refuse("checkpoint", err)
	tree := parseCheckpoint(signed.Text)
	reader := tlog.TileHashReader(tree, &tiles{url})
	checkEntries(url, tree, reader)
	checkPast(tree, reader)
	fmt.Println("ok", tree.N)
}

// checkEntries proves each entry's inclusion, from the tiles alone.
func checkEntries(url string, tree tlog.Tree, reader tlog.HashReader) {
	for n := int64(0); n < tree.N; n += 256 {
		width := tree.N - n
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: height, L: 0, N: n / 256, W: int(width)}
		path := strings.Replace(ours(tile), "tile/0/", "tile/entries/", 1)
		for at, leaf := range cut(get(url + "/" + path)) {
			index := n + int64(at)
			proof, err := tlog.ProveRecord(tree.N, index, reader)
			refuse("proof", err)
			refuse("inclusion", tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(leaf)))
		}
	}
}

// checkPast proves that smaller trees are beginnings of this one.
func checkPast(tree tlog.Tree, reader tlog.HashReader) {
	for old := int64(1); old <= tree.N; old += 1 + old/7 {
		hash, err := tlog.TreeHash(old, reader)
		refuse("old root", err)
		proof, err := tlog.ProveTree(tree.N, old, reader)
		refuse("proof", err)
		refuse("consistency", tlog.CheckTree(proof, tree.N, tree.Hash, old, hash))
	}
}

func parseCheckpoint(text string) tlog.Tree {
	// tlog's own notation has another first line; the rest is the same
	lines := strings.Split(text, "\n")
	tree, err := tlog.ParseTree([]byte("go.sum database tree\n" + strings.Join(lines[1:], "\n")))
	refuse("checkpoint text", err)
	return tree
}

func cut(bundle []byte) (leaves [][]byte) {
	for len(bundle) > 0 {
		size := 2 + int(binary.BigEndian.Uint16(bundle))
		leaves, bundle = append(leaves, bundle[2:size]), bundle[size:]
	}
	return leaves
}

type tiles struct{ url string }

func (t *tiles) Height() int { return height }

func (t *tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	for i, tile := range wanted {
		data[i] = get(t.url + "/" + ours(tile))
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
