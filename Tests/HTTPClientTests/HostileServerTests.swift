import HTTPClient
import TestKit
import Testing

/// Requests to a hostile server. Each request ends in time and uses bounded memory.
@Suite(.timeLimit(.minutes(10))) struct HostileServerTests {
    private let limits: HTTPLimits = {
        var limits = HTTPLimits(wholeMillisecondsMax: 10_000, bodyBytesMax: 100_000)
        limits.headerBytesMax = 10_000
        return limits
    }()

    private func failure(
        of answer: String, then ending: ScriptedServer.Ending = .closed, limits: HTTPLimits? = nil
    ) async throws -> HTTPError? {
        let limits = limits ?? self.limits
        let box = Box()
        try await ScriptedServer.run(answer, then: ending) { port in
            await box.set(try HTTPRequest.local(port) { $0.limits = limits }.failure())
        }
        return await box.error
    }

    private actor Box {
        var error: HTTPError?
        func set(_ error: HTTPError?) { self.error = error }
    }

    @Test func aBodyWithoutEnd() async throws {
        let error = try await failure(
            of: "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 10_000), then: .again)
        #expect(error?.code == .tooLarge)
        #expect(error?.message.hasSuffix("more than 10000 bytes of header or 100000 bytes of body") == true)
    }

    @Test func aHugeContentLength() async throws {
        let error = try await failure(of: "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\nx")
        #expect(error?.code == .connectionLost)
    }

    @Test func aBodyOfExactlyTheLimitIsAccepted() async throws {
        let body = String(repeating: "x", count: 100_000)
        #expect(try await failure(of: "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\(body)") == nil)
        let more = try await failure(of: "HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n\(body)x")
        #expect(more?.code == .tooLarge)
    }

    @Test func headersWithoutEnd() async throws {
        let error = try await failure(of: "HTTP/1.1 200 OK\r\nX: y\r\n" + String(repeating: "X: y\r\n", count: 1000))
        #expect(error?.code == .connectionLost)
        let endless = try await failure(of: "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n", then: .again)
        #expect(endless?.code == .tooLarge)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"])
    func aSilentServer(answer: String) async throws {
        var limits = limits
        limits.wholeMillisecondsMax = 300
        let error = try await failure(of: answer, then: .silence, limits: limits)
        #expect(error?.code == .timedOut)
        #expect(error?.message.hasSuffix("no complete response in time (5000 ms to connect, 300 ms in total)") == true)
    }

    @Test(arguments: [
        "", "\0\0\0\0", "SSH-2.0-OpenSSH_9.2\r\n", "AMQP\0\0\u{9}\u{1}", "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
    ])
    func wrongBytes(answer: String) async throws {
        let error = try await failure(of: answer)
        #expect([.notHTTP, .connectionLost, .tooLarge].contains(error?.code), "\(String(describing: error))")
        #expect(error?.message.hasPrefix("http://127.0.0.1:") == true)
    }

    @Test(arguments: [("X\r\nY", "z"), ("", "z"), ("X:", "z"), ("X", "a\r\nY: b"), ("X", "a\0b")])
    func invalidHeadersAreRefused(name: String, value: String) async throws {
        let error = try await HTTPRequest.local(1) { $0.headers = [(name, value)] }.failure()
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["", "/a\0b", "/" + String(repeating: "x", count: 107)])
    func invalidUnixSocketPathsAreRefused(path: String) async throws {
        let error = try await HTTPRequest.local(1) { $0.unixSocketPath = path }.failure()
        #expect(error?.code == .invalidRequest)
    }
}
