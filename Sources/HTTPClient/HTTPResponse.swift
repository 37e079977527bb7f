/// What an HTTP server answered, whatever its status.
public struct HTTPResponse: Sendable {
    public var status: Int
    /// Names in lower case, in the order in which they came.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// - Parameter name: in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Whether the status is one of success: 200 to 299.
    public var isSuccess: Bool { 200...299 ~= status }

    public var text: String { String(decoding: body, as: UTF8.self) }
}
