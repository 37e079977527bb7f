import APNSProtocol
import JSON

/// A connection that failed because the client violated TLS or HTTP/2.
public struct ConnectionFailure: Sendable, Hashable {
    /// Number of the connection.
    public var number: Int
    public var service: Service
    /// Time of the failure, by the simulator's clock.
    public var unixMilliseconds: Int64
    /// The error message.
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

/// The newest failures of connections.
struct ConnectionFailures {
    static let keptMax = 20

    /// The failures, the oldest first.
    private(set) var newest: [ConnectionFailure] = []

    mutating func add(_ failure: ConnectionFailure) {
        if newest.count == Self.keptMax { newest.removeFirst() }
        newest.append(failure)
    }
}
