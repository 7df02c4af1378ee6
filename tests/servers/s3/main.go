// An S3 store for tests: rclone's `serve s3` over a local folder, and nothing else of rclone. It
// checks AWS Signature Version 4 and the time of every request, and has multipart uploads.
//
// usage: s3 serve s3 --addr HOST:PORT --auth-key ID,SECRET [--cert FILE --key FILE] FOLDER
// S3_CLOCK_AHEAD: by how much its clock is wrong ("1h", "-1h")
package main

import (
	"log"
	"os"
	"time"

	_ "github.com/rclone/rclone/backend/local"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve/s3"

	"github.com/rclone/gofakes3/signature"
)

func main() {
	if text := os.Getenv("S3_CLOCK_AHEAD"); text != "" {
		ahead, err := time.ParseDuration(text)
		if err != nil {
			log.Fatal("S3_CLOCK_AHEAD: ", err)
		}
		signature.TimeNow = func() time.Time { return time.Now().Add(ahead) }
	}
	cmd.Main()
}
