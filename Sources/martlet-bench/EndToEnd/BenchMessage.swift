import AMQP

/// The message of the benchmark: an alert of 450 bytes, each with an id and a device of its own.
struct BenchMessage: Sendable {
    static let bytes = 450

    private let round: Int

    /// - Parameter round: makes the ids of one filling differ from those of another.
    init(round: Int) {
        self.round = round
    }

    /// - Parameter app: to be as long as that of all others.
    func message(_ number: Int, app: String = "com.example.app", queue: String) -> OutgoingMessage {
        let id = "00000000-0000-4000-8\(Self.hex(round, digits: 3))-\(Self.hex(number, digits: 12))"
        let token = Self.hex(number, digits: 64)
        let body = """
            {"id":"\(id)","app":"\(app)","device_token":"\(token)","push_type":"alert","priority":10,\
            "expiration":1900000000,"collapse_id":"score-42","payload":{"aps":{"alert":{"title":"Game update",\
            "body":"Your team scored: 2 to 1 after a long attack"},"sound":"default","badge":3,\
            "interruption-level":"active"},"match":"4711","link":"https://example.com/m/47110"}}
            """
        return OutgoingMessage(exchange: "", routingKey: queue, body: Array(body.utf8), messageID: id)
    }

    private static func hex(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
