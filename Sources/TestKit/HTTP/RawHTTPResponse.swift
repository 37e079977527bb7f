/// An HTTP/1.1 response with a content length.
public struct RawHTTPResponse: Sendable, Equatable {
    public var status: Int
    /// The header values, by lower-case name.
    public var headers: [String: String] = [:]
    public var body: String

    /// Returns the first response in `bytes` and its size in bytes; nil if the response is incomplete.
    static func parse(_ bytes: [UInt8], hasBody: Bool) -> (response: RawHTTPResponse, byteCount: Int)? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count,
            let headEnd = (0...(bytes.count - end.count)).first(where: { Array(bytes[$0..<($0 + 4)]) == end })
        else { return nil }
        let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        var response = RawHTTPResponse(status: Int(lines[0].split(separator: " ")[1]) ?? 0, body: "")
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            response.headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let bodyCount = hasBody ? response.headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        let byteCount = headEnd + end.count + bodyCount
        guard bytes.count >= byteCount else { return nil }
        response.body = String(decoding: bytes[(headEnd + end.count)..<byteCount], as: UTF8.self)
        return (response, byteCount)
    }
}
