import EventLoop
import TestKit

/// Requests of five browsers to the console's API, and their latencies.
struct APILoad {
    /// A session may send twice as many.
    private static let requestsPerSecond = 10

    let console: ConsoleProcess
    /// The number of results in the history.
    let rows: Int
    let seconds: Int

    struct Latencies: Sendable {
        var find: [Duration] = []
        var other: [Duration] = []
    }

    func run() async throws -> Latencies {
        try await onEpollLoop { [self] loop in
            try await withThrowingTaskGroup { group in
                for (number, session) in console.sessions.enumerated() {
                    group.addTask(executorPreference: loop) { try await browse(session, number, on: loop) }
                }
                return try await group.reduce(into: Latencies()) {
                    $0.find += $1.find
                    $0.other += $1.other
                }
            }
        }
    }

    private func browse(_ session: String, _ browser: Int, on loop: EpollLoop) async throws -> Latencies {
        let client = try await RawHTTPClient.connect(to: console.endpoint, on: loop)
        defer { client.close() }
        var latencies = Latencies()
        let start = ContinuousClock.now
        for round in 0..<seconds * Self.requestsPerSecond {
            let due = start + .milliseconds(round * 1000 / Self.requestsPerSecond)
            let wait = due - .now
            if wait > .zero { await loop.sleep(for: wait) }
            let number = (round * console.sessions.count + browser) &* 7_919_993 % rows
            let token = JournalLoad.token(number)
            let targets = [
                "/api/fleet", "/api/requests?id=\(JournalLoad.id(number))", "/api/causes",
                "/api/requests?token=\(token.prefix(round / 8 % 2 == 0 ? 10 : token.count))", "/api/queues",
                "/api/requests", "/api/apps", "/api/dead/groups",
            ]
            let target = targets[round % targets.count]
            let sent = ContinuousClock.now
            let answer = try await client.request(
                "GET", target, headers: ["Authorization": "Bearer \(session)"])
            guard answer.status == 200 else { throw ProcessError("\(target): \(answer.status) \(answer.body)") }
            if target.hasPrefix("/api/requests?") {
                latencies.find.append(ContinuousClock.now - sent)
            } else {
                latencies.other.append(ContinuousClock.now - sent)
            }
        }
        return latencies
    }
}
