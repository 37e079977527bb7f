// Pushes with Go's x/net/http2 while the server repeatedly sends GOAWAY.
//
//	drain PORT AUTHORITY-FILE CERTIFICATE-FILE KEY-FILE COUNT     Print the outcomes as a JSON object.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
)

const openMax = 50
const payload = `{"aps":{"alert":"Hi"}}`

func main() {
	authority, err := os.ReadFile(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	certificate, err := tls.LoadX509KeyPair(os.Args[3], os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	count, err := strconv.Atoi(os.Args[5])
	if err != nil {
		log.Fatal(err)
	}
	transport := &http2.Transport{
		TLSClientConfig:            &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}},
		StrictMaxConcurrentStreams: true,
	}
	client := &http.Client{Transport: transport}
	var accepted, lost int64
	numbers := make(chan int)
	var workers sync.WaitGroup
	for worker := 0; worker < openMax; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for number := range numbers {
				url := fmt.Sprintf("https://localhost:%s/3/device/%08x", os.Args[1], number)
				request, err := http.NewRequest("POST", url, strings.NewReader(payload))
				if err != nil {
					log.Fatal(err)
				}
				request.Header.Set("apns-topic", "com.example.app")
				response, err := client.Do(request)
				if err != nil {
					atomic.AddInt64(&lost, 1)
					continue
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode == 200 {
					atomic.AddInt64(&accepted, 1)
				} else {
					atomic.AddInt64(&lost, 1)
				}
			}
		}()
	}
	for number := 0; number < count; number++ {
		numbers <- number
	}
	close(numbers)
	workers.Wait()
	json.NewEncoder(os.Stdout).Encode(map[string]int64{"accepted": accepted, "lost": lost})
}
