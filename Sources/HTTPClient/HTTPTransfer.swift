/// The received part of a response. libcurl calls the transfer on the thread of the request.
final class HTTPTransfer {
    private let limits: HTTPLimits
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private var headerBytes = 0
    /// Whether the empty line that ends the header was received. libcurl does not require this line.
    private(set) var isHeadComplete = false
    /// Whether the response exceeded a limit.
    private(set) var isTooLarge = false

    init(_ limits: HTTPLimits) { self.limits = limits }

    /// Adds the field of a header line or trailer line. A status line discards all earlier fields. Returns false, which
    /// ends the transfer, if all header lines together exceed the limit, including those of interim responses.
    func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= limits.headerBytesMax else { return refuse() }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // The earlier fields belong to an interim response.
            headers = []
            isHeadComplete = false
        } else if text == "\r\n" || text == "\n" {
            isHeadComplete = true
        }
        guard let colon = text.firstIndex(of: ":") else { return true }
        let value = text[text.index(after: colon)...]
        headers.append((text[..<colon].lowercased(), String(value.trimmingSpace)))
        return true
    }

    func received(bodyPart part: UnsafeRawBufferPointer) -> Bool {
        guard body.count + part.count <= limits.bodyBytesMax else { return refuse() }
        body += part
        return true
    }

    private func refuse() -> Bool {
        isTooLarge = true
        return false
    }
}

extension Substring {
    /// The text without leading and trailing white space.
    fileprivate var trimmingSpace: Substring {
        var rest = self
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return rest.drop { $0.isWhitespace }
    }
}
