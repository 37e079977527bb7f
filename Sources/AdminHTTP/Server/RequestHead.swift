import CMicroHTTPD

/// The method of a request, and the headers that the endpoint evaluates.
struct RequestHead {
    let method: AdminMethod?
    /// Values of `Host`. A valid request has exactly one. Several values may deceive a proxy.
    private(set) var hosts: [String] = []
    private(set) var origins: [String] = []
    private(set) var contentType: String?
    /// All headers in order, with lower-case names.
    private(set) var headers: [(name: String, value: String)] = []
    private var contentLengths = 0
    private var transferEncodings = 0
    /// Whether a proxy may read another length than this endpoint, as in request smuggling (RFC 9112, 6.3).
    var isLengthAmbiguous: Bool { contentLengths + transferEncodings > 1 }

    init(method: UnsafePointer<CChar>, connection: OpaquePointer) {
        let method = String(cString: method)
        self.method = AdminMethod(rawValue: method == "HEAD" ? "GET" : method)
        withUnsafeMutablePointer(to: &self) { head in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { head, _, name, value in
                    if let head, let name {
                        head.assumingMemoryBound(to: RequestHead.self).pointee.add(
                            String(cString: name), value.map { String(cString: $0) } ?? "")
                    }
                    return .YES
                }, head)
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        let name = name.lowercased()
        headers.append((name, value))
        switch name {
        case "host": hosts.append(value)
        case "origin": origins.append(value)
        case "content-type": contentType = value
        case "content-length": contentLengths += 1
        case "transfer-encoding": transferEncodings += 1
        default: break
        }
    }
}
