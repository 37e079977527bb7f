import AMQP
import TestKit

/// A valid request as a producer publishes it.
struct Sample {
    let id: String
    /// The payload, which must reach APNs byte for byte.
    let payload: String
    var app = "com.example.app"
    /// The APNs environment; nil for the app's default environment.
    var environment: String?
    /// The expiration in UNIX seconds; nil for none.
    var expiration: Int?

    init(_ number: Int) {
        let digits = String(number, radix: 16)
        id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        // Decoding and encoding this JSON again would change it.
        payload =
            #"{ "aps":{"alert":"N\u00b0 \#(number), gr"# + #"üß","badge": 1.50e1}, "z":[1,2 ,3],"a":\#(number)}"#
    }

    static func make(
        _ count: Int, from first: Int = 0, app: String = "com.example.app", environment: String? = nil
    ) -> [Sample] {
        (first..<first + count).map { number in
            var sample = Sample(number)
            sample.app = app
            sample.environment = environment
            return sample
        }
    }

    var device: String { id.filter { $0 != "-" } }

    var body: [UInt8] {
        let environment = environment.map { #""environment":"\#($0)","# } ?? ""
        let expiration = expiration.map { #""expiration":\#($0),"# } ?? ""
        return Array(
            """
            {"id":"\(id)","app":"\(app)","device_token":"\(device)",\(environment)\(expiration)
             "push_type":"alert","payload":\(payload) }
            """.utf8)
    }

    func message(to prefix: String, routingKey: String = "request") -> OutgoingMessage {
        OutgoingMessage(exchange: "\(prefix).requests", routingKey: routingKey, body: body, messageID: id)
    }
}
