import AMQP
import TestKit

/// A request that is good, as a producer writes it.
struct Sample {
    let id: String
    /// As it must reach APNs.
    let payload: String

    init(_ number: Int) {
        let digits = String(number, radix: 16)
        id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        // What a program that reads and writes JSON anew would change.
        payload =
            #"{ "aps":{"alert":"N\u00b0 \#(number), gr"# + #"üß","badge": 1.50e1}, "z":[1,2 ,3],"a":\#(number)}"#
    }

    static func make(_ count: Int) -> [Sample] { (0..<count).map { Sample($0) } }

    var body: [UInt8] {
        Array(
            """
            {"id":"\(id)","app":"com.example.app","device_token":"\(id.filter { $0 != "-" })",
             "push_type":"alert","payload":\(payload) }
            """.utf8)
    }

    func message(to prefix: String) -> OutgoingMessage {
        OutgoingMessage(exchange: "\(prefix).requests", routingKey: "request", body: body, messageID: id)
    }
}
