import AMQP
import AdminHTTP
import Delivery
import EventLoop
import Glibc
import TestKit
import Testing

@testable import DeadLetters

/// A separate topology of one test on the shared broker, with its dead-letter queue.
struct DeadLetterQueue {
    static let failedAt: Int64 = 1_750_000_000_000

    let url: String
    let prefix: String
    var name: String { "\(prefix).dead" }

    /// Applies the topology, and limits the deliveries of the dead-letter queue.
    ///
    /// - Parameter deliveryLimit: The limit that a policy sets, by default that of RabbitMQ 4; nil for no policy.
    init(_ prefix: String, deliveryLimit: Int? = 20) async throws {
        let broker = try await PrivateBroker.shared
        (url, self.prefix) = (broker.url, prefix)
        let applied = try await ChildProcess.run([
            Products.executable("martlet"), "topology", "apply", "--url", url, "--prefix", prefix,
        ])
        try #require(applied.exit.status == .exited(0), "\(applied.errors)")
        if let deliveryLimit {
            try await broker.rabbitmqctl(
                "set_policy", "--apply-to", "queues", "limit-\(prefix)", "^\(prefix)\\.dead$",
                #"{"delivery-limit":\#(deliveryLimit)}"#)
        }
    }

    /// Runs `martlet dead-letters …`. The returned errors omit the lines about a slow broker.
    func run(
        _ words: String..., environment: [String: String] = [:]
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.runAtBroker(command(words, environment))
    }

    /// Runs `martlet …`. The returned errors omit the lines about a slow broker.
    func martlet(_ words: String...) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.runAtBroker(
            [Products.executable("martlet")] + words + ["--url", url, "--prefix", prefix])
    }

    func command(_ words: [String], _ environment: [String: String] = [:]) throws -> [String] {
        let command =
            try [Products.executable("martlet"), "dead-letters"] + words + ["--url", url, "--prefix", prefix]
        return environment.isEmpty ? command : ["env"] + environment.map { "\($0)=\($1)" } + command
    }

    /// Writes a worker's configuration without its key file. Returns the path of the configuration.
    func configuration(_ sections: String, in directory: TemporaryDirectory) throws -> String {
        try directory.write(
            "martlet.yaml",
            """
            amqp: {url: "\(url)", prefix: \(prefix)}
            apns:
              keys:
                - {key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8, environments: [production]}
            \(sections)
            """)
    }

    /// Runs `martlet dead-letters …` with a configuration file. The returned errors omit the lines about a slow broker.
    func run(
        _ words: [String], config: String, environment: [String: String] = [:]
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        let command = try [Products.executable("martlet"), "dead-letters"] + words + ["--config", config]
        return try await ChildProcess.runAtBroker(["env"] + environment.map { "\($0)=\($1)" } + command)
    }

    /// Runs `martlet dead-letters stats` once for each pair of broker version and queue that the management API
    /// shows.
    func stats(
        whereManagementShows shown: [(version: String, queue: String)], _ words: String...
    ) async throws -> [(exit: ChildExit, errors: [String])] {
        let directory = try TemporaryDirectory()
        return try await onEpollLoop { loop in
            var results: [(exit: ChildExit, errors: [String])] = []
            for (version, queue) in shown {
                let server = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
                    let isQueue = exchange.request.path == ["api", "queues", "/", name]
                    exchange.answer(.json(Array((isQueue ? queue : #"{"rabbitmq_version":"\#(version)"}"#).utf8)))
                }
                defer { server.close() }
                let management = "http://guest:guest@\(server.endpoint)"
                let config = try directory.write(
                    "martlet.yaml",
                    """
                    amqp: {url: "\(url)", prefix: \(prefix), management_url: "\(management)"}
                    apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
                    apps: {com.example.app: {}}
                    """)
                let result = try await ChildProcess.run(
                    [
                        Products.executable("martlet"), "dead-letters", "stats", "--config", config,
                    ] + words)
                results.append((result.exit, result.errors))
            }
            return results
        }
    }

    func publish(_ messages: [OutgoingMessage]) async throws {
        let outcomes = try await BrokerClients.publish(messages, to: url)
        try #require(outcomes.allSatisfy { $0 == .confirmed })
    }

    /// Consumes `count` messages of a queue, expects no further messages, and returns the consumed messages.
    func consume(_ count: Int, from word: String = "dead") async throws -> [IncomingMessage] {
        let queue = "\(prefix).\(word)"
        let taken = count > 0 ? try await BrokerClients.consume(count, from: queue, at: url) : []
        let left = try await BrokerClients.withAdmin(url) { try await $0.status(ofQueue: queue).messages }
        #expect(left == 0)
        return taken
    }

    /// Consumes and requeues all `count` messages, `times` times.
    func wear(_ count: Int, times: Int) async throws {
        for _ in 0..<times { try await BrokerClients.consume(count, from: name, at: url, requeues: true) }
    }

    func count(in word: String = "dead") async throws -> Int {
        let queue = "\(prefix).\(word)"
        return try await BrokerClients.withAdmin(url) { try await $0.status(ofQueue: queue).messages }
    }

    /// Returns the permission bits of a file; 0 if the file is missing.
    static func mode(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func body(_ number: Int, pushType: String = "alert") -> [UInt8] {
        Array(
            """
            {"id":"\(id(number))", "app":"com.example.app","device_token":"\(String(repeating: "0a1b", count: 16))",
             "push_type":"\(pushType)","payload":{"aps":{"alert":"N° \(number)"},"n":\(number)} }
            """.utf8)
    }

    /// Returns a dead letter in the format of a worker.
    func letter(_ number: Int, code: String = "BadDeviceToken", pushType: String = "alert") -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: "\(prefix).dead", routingKey: "dead.apns.\(code).com.example.app",
            body: Self.body(number, pushType: pushType), messageID: Self.id(number),
            headers: [
                "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": .string(code),
                "push-reason": .string("APNs answered 400 \(code)."), "push-apns-status": 400,
                "push-apns-id": .string(Self.id(number)), "push-attempt": 1, "push-possible-duplicate": false,
                "push-failed-at": .integer(Self.failedAt + Int64(number)),
                "push-origin-queue": .string("\(prefix).requests"),
                "push-original-message-id": .string("order-\(number)"),
                "push-original-timestamp": .timestamp(seconds: 5),
                "tenant": "blue", "X-Request-ID": .string("r-\(number)"), "price": .decimal(scale: 2, value: 1999),
            ])
        message.carriesUserID = true
        message.type = "order.v1"
        message.correlationID = "c-\(number)"
        (message.timestampSeconds, message.priority) = (1_700_000_000, 4)
        return message
    }
}

extension DeadLetterQueue {
    /// Checks that the consumed messages are the published messages, in order and unchanged.
    static func expect(
        _ taken: [IncomingMessage], are published: [OutgoingMessage],
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(taken.map(\.properties.messageID) == published.map(\.messageID), sourceLocation: sourceLocation)
        let changed = zip(taken, published).filter { RepublishableMessage($0, .unknown).sorted != $1.copy.sorted }
        #expect(changed.first.map { "\($0.0.properties.messageID ?? "")" } == nil, sourceLocation: sourceLocation)
    }
}

extension OutgoingMessage {
    var copy: RepublishableMessage {
        var copy = RepublishableMessage(body: body)
        (copy.messageID, copy.contentType, copy.contentEncoding) = (messageID, contentType, contentEncoding)
        (copy.correlationID, copy.replyTo, copy.type, copy.appID) = (correlationID, replyTo, type, appID)
        (copy.timestampSeconds, copy.priority, copy.headers) = (timestampSeconds, priority, headers)
        return copy
    }
}

extension RepublishableMessage {
    /// The message with sorted headers. The broker sorts headers when it adds a header.
    fileprivate var sorted: RepublishableMessage {
        var sorted = self
        sorted.headers.entries.sort { $0.name < $1.name }
        return sorted
    }
}
