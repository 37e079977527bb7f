import AMQP

/// Messages in the formats of a worker.
enum QueuedMessages {
    static let failedAt: Int64 = 1_750_000_000_000

    static func id(_ number: Int) -> String {
        let digits = "\(number)"
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func body(_ number: Int) -> [UInt8] {
        Array(
            """
            {"id":"\(id(number))","app":"com.example.shop","device_token":"\(String(repeating: "0a1b", count: 16))",\
            "push_type":"alert","payload":{"aps":{"alert":"N° \(number)"}}}
            """.utf8)
    }

    /// Returns a dead letter in the format of a worker.
    static func letter(
        _ number: Int, _ prefix: String, code: String = "BadTopic", failedAt: Int64 = failedAt
    ) -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: "\(prefix).dead", routingKey: "dead.apns.\(code).com.example.shop", body: body(number),
            messageID: id(number),
            headers: [
                "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": .string(code),
                "push-reason": .string("APNs answered 400 \(code)."), "push-apns-id": .string(id(number)),
                "push-attempt": 1, "push-failed-at": .integer(failedAt),
                "push-origin-queue": .string("\(prefix).requests"),
            ])
        message.carriesUserID = true
        return message
    }

    /// Returns a request that waits because of a breaker.
    static func waiting(_ number: Int, _ prefix: String, code: String, in queue: String) -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: "\(prefix).\(queue)", routingKey: "\(prefix).requests", body: body(number), messageID: id(number),
            headers: [
                "push-attempt": 1, "push-retry-rounds": 1, "push-wait-id": .integer(Int64(number) + 1),
                "push-reason-code": .string(code), "push-origin-queue": .string("\(prefix).requests"),
            ])
        message.expirationMilliseconds = 3_000_000
        return message
    }
}
