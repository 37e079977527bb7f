import APNSProtocol
import JSON

/// A connection that failed because its client broke the rules of TLS or HTTP/2.
public struct ConnectionFailure: Sendable, Hashable {
    /// The connection's.
    public var number: Int
    public var service: Service
    /// By the simulator's clock.
    public var unixMilliseconds: Int64
    /// What was wrong.
    public var text: String

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("number", number)
        service.write(to: &json)
        json.member("unix_ms", unixMilliseconds)
        json.member("error", text)
        json.endObject()
    }
}

/// The newest failures.
struct ConnectionFailures {
    static let keptMax = 20

    /// The oldest first.
    private(set) var newest: [ConnectionFailure] = []

    mutating func add(_ failure: ConnectionFailure) {
        if newest.count == Self.keptMax { newest.removeFirst() }
        newest.append(failure)
    }
}
