import CLinux
import Glibc
import Testing
import Threads

@testable import EventLoop

@Suite struct NameLookupsTests {
    /// A gate that blocks a name lookup until `open` is called.
    private final class Gate: Sendable {
        private let ends: (read: Int32, write: Int32)

        init() {
            var ends: [Int32] = [-1, -1]
            pipe(&ends)
            self.ends = (ends[0], ends[1])
        }

        deinit { close(ends.read) }

        func wait() {
            var byte: UInt8 = 0
            read(ends.read, &byte, 1)
        }

        func open() { close(ends.write) }
    }

    private static let answer = Resolver.lookUp(Endpoint(host: "192.0.2.1", port: 0), flags: AI_NUMERICHOST)

    private func found(_ lookups: NameLookups, _ host: String) async -> Resolver.Answer {
        await withCheckedContinuation { continuation in
            _ = lookups.find(host) { continuation.resume(returning: $0) }
        }
    }

    @Test func requestsForOneNameShareOneLookup() async throws {
        let gate = Gate()
        let lookups = NameLookups { _ in
            gate.wait()
            return Self.answer
        }
        let answers = await withTaskGroup(of: Resolver.Answer.self) { group in
            for _ in 0..<20 { group.addTask { await found(lookups, "push.example.com") } }
            // The first request starts the lookup. The other requests must not start another thread.
            while lookups.threadCount == 0 { await Task.yield() }
            #expect(lookups.threadCount == 1)
            gate.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 20)
        for answer in answers { #expect(try answer.get() == Self.answer.get()) }
    }

    @Test func threadsAreBoundedAndAFurtherNameFailsImmediately() async {
        let gate = Gate()
        let lookups = NameLookups { _ in
            gate.wait()
            return Self.answer
        }
        let tickets = (0..<NameLookups.threadsMax).map { lookups.find("\($0).example.com") { _ in } }
        #expect(lookups.threadCount == NameLookups.threadsMax)
        // A lookup without requests counts toward the limit until its thread returns.
        for ticket in tickets { lookups.cancel(ticket) }
        for _ in 0..<100 {
            guard case .failure(let error) = await found(lookups, "more.example.com") else {
                Issue.record("the name was looked up")
                continue
            }
            #expect(error.code == .resolve && error.isRetriable)
            #expect(error.message.hasPrefix("cannot resolve more.example.com: 16 lookups of other names wait"))
        }
        #expect(lookups.threadCount == NameLookups.threadsMax)
        gate.open()
        while lookups.threadCount > 0 { await Task.yield() }
        guard case .success = await found(lookups, "more.example.com") else {
            Issue.record("the name was not looked up")
            return
        }
    }

    @Test func aNameThatIsNotResolvedInTimeEndsTheConnectAndKeepsItsThread() async {
        final class Client: ByteStreamHandler {
            var ended: (TransportError?) -> Void = { _ in }
            override func closed(_ error: TransportError?) { ended(error) }
        }
        let gate = Gate()
        let lookups = NameLookups { _ in
            gate.wait()
            return Self.answer
        }
        let errors = await DetachedThread.run { () -> [TransportError?] in
            guard let loop = try? EpollLoop() else { return [] }
            // The array is used only on this thread, by the loop that runs on it.
            nonisolated(unsafe) var errors: [TransportError?] = []
            loop.post {
                loop.nameLookups = lookups
                var options = ConnectOptions()
                options.resolveSecondsMax = 1
                let place = Endpoint(host: "push.example.com", port: 443)
                for _ in 0..<3 {
                    let client = Client()
                    client.ended = { error in
                        errors.append(error)
                        if errors.count == 3 { loop.stop() }
                    }
                    _ = loop.connect(to: place, options: options, handler: client)
                }
            }
            loop.run()
            return errors
        }
        let late = TransportError(.timedOut, "push.example.com:443: the name was not resolved within 1 s")
        #expect(errors == [late, late, late])
        #expect(lookups.threadCount == 1)
        gate.open()
    }
}
