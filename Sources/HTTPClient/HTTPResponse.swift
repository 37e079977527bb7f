/// The response of an HTTP server, with any status.
public struct HTTPResponse: Sendable {
    public var status: Int
    /// Header fields in the order of arrival. Names are in lower case.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the value of the first field with this name; nil if no field matches.
    ///
    /// - Parameter name: a name in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { 200...299 ~= status }

    public var text: String { String(decoding: body, as: UTF8.self) }
}
