import AdminHTTP
import EventLoop
import TestKit
import Testing

@Suite struct ExchangeTests {
    @Test func `A request receives its answer`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            let response = try await client.request("GET", "/v1/devices/a%2Fb?limit=5&text=a+b%26c")
            #expect(response.status == 200)
            #expect(response.body == "GET v1|devices|a/b limit=5|text=a b&c - ")
            #expect(response.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(response.headers["cache-control"] == "no-store")
            #expect(response.headers["content-security-policy"]?.hasPrefix("default-src 'self';") == true)
            #expect(response.headers["x-content-type-options"] == "nosniff")
        }
    }

    @Test func `The endpoint has the actual port`() async throws {
        try await AdminServerHarness.run { harness in
            #expect(harness.server.endpoint.host == "127.0.0.1")
            #expect(harness.server.endpoint.port != 0)
        }
    }

    @Test func `One connection carries many requests, sequential or pipelined`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            for number in 0..<50 {
                #expect(
                    try await client.request("PUT", "/\(number)", body: "x\(number)").body
                        == "PUT \(number)  - x\(number)")
            }
            for number in 0..<50 { client.send("PUT", "/\(number)", body: "x\(number)") }
            for number in 0..<50 { #expect(try await client.response().body == "PUT \(number)  - x\(number)") }
        }
    }

    @Test(arguments: [0, 1, 100_000, 1_048_576])
    func `A body arrives complete`(count: Int) async throws {
        try await AdminServerHarness.run {
            $0.answer(.json($0.request.body))
        } talk: { harness in
            let body = String(repeating: "abcdefgh", count: (count + 7) / 8).prefix(count)
            let client = try await harness.connect()
            let response = try await client.request(
                "PUT", "/", headers: ["Content-Type": "text/plain"], body: String(body))
            #expect(response.status == 200)
            #expect(response.body == body)
        }
    }

    @Test func `A chunked body arrives complete`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            client.send("PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n")
            client.send("3;x=y\r\nfgh\r\n0\r\n\r\n")
            #expect(try await client.response().body == "PUT   - abcdefgh")
        }
    }

    @Test func `A client that expects 100 Continue receives it`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            client.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            try await client.wait("an interim response") { !client.unread.isEmpty }
            #expect(String(decoding: client.unread, as: UTF8.self).hasPrefix("HTTP/1.1 100 "))
            client.send("ab")
            #expect(try await client.response().body == "PUT   - ab")
        }
    }

    @Test func `HEAD is GET without the body`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            let response = try await client.request("HEAD", "/x")
            #expect(response.status == 200)
            #expect(response.headers["content-length"] == "9")
            #expect(try await client.request("GET", "/x").body == "GET x  - ")
        }
    }

    @Test(arguments: [
        "GET /%f0%28 HTTP/1.1", "GET /%4 HTTP/1.1", "GET http://localhost/ HTTP/1.1", "OPTIONS * HTTP/1.1",
    ])
    func `A malformed path is refused`(line: String) async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            client.send("\(line)\r\nHost: localhost\r\n\r\n")
            let response = try await client.response()
            #expect(response.status == 400)
            #expect(response.body.hasPrefix(#"{"error":"the path must begin with /"#))
        }
    }

    @Test func `An HTTP 1.0 client is answered and its connection closed`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            client.send("GET /x HTTP/1.0\r\nHost: localhost\r\n\r\n")
            #expect(try await client.rest().hasSuffix("\r\n\r\nGET x  - "))
        }
    }
}
