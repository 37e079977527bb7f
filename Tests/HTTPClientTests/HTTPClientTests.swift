import AdminHTTP
import Crypto
import EventLoop
import Glibc
import HTTPClient
import TestKit
import Testing
import Threads

@Suite struct HTTPClientTests {
    /// Calls `talk` with the port of an admin endpoint that echoes requests.
    private func withEcho(_ talk: @escaping @Sendable (_ port: UInt16) async throws -> Void) async throws {
        try await onEpollLoop { loop in
            let server = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
                let request = exchange.request
                let parts = [
                    request.method?.rawValue ?? "-", request.path.joined(separator: "|"), request.contentType ?? "-",
                    String(decoding: request.body, as: UTF8.self),
                ]
                exchange.answer(
                    AdminResponse(
                        status: request.path == ["missing"] ? 404 : 200, contentType: "text/plain",
                        body: Array(parts.joined(separator: " ").utf8)))
            }
            defer { server.close() }
            try await talk(server.endpoint.port)
        }
    }

    @Test func everyMethodWithItsBodyArrives() async throws {
        try await withEcho { port in
            let got = try await HTTPRequest.local(port, "/a/b", .get).send()
            #expect(got.text == "GET a|b - ")
            #expect(got.isSuccess)
            #expect(got.header("content-type") == "text/plain")
            #expect(try await HTTPRequest.local(port, "/a", .delete).send().text == "DELETE a - ")
            #expect(try await HTTPRequest.local(port, "/a", .post).send().text == "POST a - ")
            for method in [HTTPRequest.Method.put, .post] {
                let answer = try await HTTPRequest.local(port, "/a", method) { request in
                    request.headers = [("Content-Type", "application/json"), ("X-Empty", "")]
                    request.body = Array("{}".utf8)
                }.send()
                #expect(answer.text == "\(method.rawValue) a application/json {}")
            }
            let head = try await HTTPRequest.local(port, "/a", .head).send()
            #expect(head.status == 200)
            #expect(head.body == [])
        }
    }

    @Test func anErrorStatusIsAResponse() async throws {
        try await withEcho { port in
            let answer = try await HTTPRequest.local(port, "/missing").send()
            #expect(answer.status == 404)
            #expect(!answer.isSuccess)
        }
    }

    @Test func aClientReusesItsConnection() async throws {
        let received = try await ScriptedServer.run(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", then: .silence
        ) { port in
            let first = try HTTPRequest.local(port, "/first", .delete) { $0.headers = [("X-First", "1")] }
            let second = try HTTPRequest.local(port, "/second")
            let answers = await DetachedThread.run { () -> [String]? in
                let client = HTTPClient()
                return try? [client.send(first).text, client.send(second).text]
            }
            #expect(answers == ["ok", "ok"])
        }
        #expect(received.count == 1)
        let requests = received[0].split(separator: "\r\n\r\n")
        #expect(requests.map { $0.prefix { $0 != "\r\n" } } == ["DELETE /first HTTP/1.1", "GET /second HTTP/1.1"])
        // The second request does not repeat the header of the first.
        #expect(requests.map { $0.contains("X-First") } == [true, false])
    }

    @Test func credentialsAreSent() async throws {
        let received = try await ScriptedServer.run("HTTP/1.1 204 No Content\r\n\r\n") { port in
            let url = try HTTPURL("http://martlet:s%40cret@127.0.0.1:\(port)/api")
            #expect(try await HTTPRequest(.get, url).send().status == 204)
        }
        #expect(received[0].contains("Authorization: Basic bWFydGxldDpzQGNyZXQ=\r\n"))
        #expect(received[0].hasPrefix("GET /api HTTP/1.1\r\n"))
    }

    @Test func redirectsAreNotFollowed() async throws {
        let received = try await ScriptedServer.run(
            "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"
        ) { port in
            let answer = try await HTTPRequest.local(port).send()
            #expect(answer.status == 302)
            #expect(answer.header("location") == "file:///etc/passwd")
        }
        #expect(received.count == 1)
    }

    @Test func interimResponsesAreSkipped() async throws {
        let answer =
            "HTTP/1.1 103 Early Hints\r\nX-Which: first\r\n\r\nHTTP/1.1 200 OK\r\nX-Which: second\r\nContent-Length: 0\r\n\r\n"
        try await ScriptedServer.run(answer) { port in
            let answer = try await HTTPRequest.local(port).send()
            #expect(answer.status == 200)
            #expect(answer.headers.filter { $0.name == "x-which" }.map(\.value) == ["second"])
        }
    }

    @Test func overAUnixSocket() async throws {
        let directory = try TemporaryDirectory("http")
        let path = directory.file("admin.sock")
        let server = try UnixServer(path, answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere")
        let request = try HTTPRequest.local(1, "/status") { $0.unixSocketPath = path }
        #expect(try await request.send().text == "there")
        server.close()
        let error = await request.failure()
        #expect(error?.code == .cannotConnect)
        #expect(error?.message == "\(path): Connection refused")
    }

    @Test func overTLSWithTheGivenAuthority() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        try await ScriptedServer.run(answer, usesTLS: true) { port in
            var request = HTTPRequest(.get, try HTTPURL("https://localhost:\(port)/"))
            let untrusted = await request.failure()
            #expect(untrusted?.code == .tls)
            request.authoritiesPEM = ScriptedServer.authority.certificatePEM
            #expect(try await request.send().text == "ok")
            // The certificate is for localhost.
            request.url = try HTTPURL("https://127.0.0.1:\(port)/")
            #expect(await request.failure()?.code == .tls)
        }
    }

    @Test func unreachableServersAreErrors() async throws {
        let port = try FreePort.choose()
        let error = try #require(await HTTPRequest.local(port).failure())
        #expect(error.code == .cannotConnect)
        #expect(error.message == "http://127.0.0.1:\(port): Connection refused")
        let unknown = await HTTPRequest(.get, try HTTPURL("http://hunter2:hunter2@nowhere.invalid/hunter2")).failure()
        #expect(unknown?.message == "http://nowhere.invalid:80: cannot resolve the host name")
    }

    @Test func reportsTheVersionOfItsLibrary() throws {
        #expect(try CurlLibrary.version().split(separator: ".").count == 3)
    }
}

/// A server that answers each connection to a Unix socket with the same bytes, on a separate thread.
private final class UnixServer: Sendable {
    private let descriptor: Int32

    init(_ path: String, answer: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafeBytes(of: &address) {
            bind(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
        }
        guard isBound, listen(descriptor, 8) == 0 else {
            throw ProcessError("cannot listen on the Unix socket \(path)")
        }
        self.descriptor = descriptor
        try DetachedThread.start {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                var request = [UInt8](repeating: 0, count: 4096)
                _ = read(client, &request, request.count)
                _ = write(client, answer, answer.utf8.count)
                _ = Glibc.close(client)
            }
        }
    }

    func close() {
        // Closing the socket would not wake the thread.
        shutdown(descriptor, Int32(SHUT_RDWR))
        _ = Glibc.close(descriptor)
    }
}
