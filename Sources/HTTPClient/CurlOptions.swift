import CCURL

/// The options of one transfer, and the first error that libcurl returned while the options were set.
struct CurlOptions {
    private let handle: UnsafeMutableRawPointer
    private(set) var code = CURLE_OK
    private var headers: UnsafeMutablePointer<curl_slist>?

    init(_ handle: UnsafeMutableRawPointer) { self.handle = handle }

    var isComplete: Bool { code == CURLE_OK }

    mutating func apply(_ request: HTTPRequest, _ errorText: UnsafeMutablePointer<CChar>) {
        errorText.pointee = 0
        check(martlet_curl_set_text(handle, CURLOPT_ERRORBUFFER, errorText))
        // Signals are shared by the whole process, so libcurl must not use them. With QUICK_EXIT, libcurl does not
        // wait for an unresponsive name server.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        // By default, libcurl uses the proxy variables of the environment.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        set(CURLOPT_USERAGENT, "martlet")
        set(CURLOPT_URL, request.url.description)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.limits.connectMillisecondsMax))
        set(CURLOPT_TIMEOUT_MS, max(1, request.limits.wholeMillisecondsMax))
        if let path = request.unixSocketPath { set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if let credentials = request.url.credentials {
            set(CURLOPT_USERNAME, credentials.user)
            set(CURLOPT_PASSWORD, credentials.password)
        }
        if var pem = request.authoritiesPEM {
            // By default, libcurl would also trust the authorities in the system's directory.
            check(martlet_curl_set_text(handle, CURLOPT_CAPATH, nil))
            pem.withUTF8 { check(martlet_curl_set_blob(handle, CURLOPT_CAINFO_BLOB, $0.baseAddress, $0.count)) }
        }
        header("Expect:")
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { header("Content-Type:") }
        for (name, value) in request.headers { header(value.isEmpty ? "\(name);" : "\(name): \(value)") }
        check(martlet_curl_set_list(handle, CURLOPT_HTTPHEADER, headers))
    }

    /// Sets the method and the body. The bytes must stay valid until the transfer has ended.
    mutating func body(_ bytes: UnsafeRawBufferPointer, _ method: HTTPRequest.Method) {
        switch method {
        case .get where bytes.isEmpty: set(CURLOPT_HTTPGET, 1)
        case .head: set(CURLOPT_NOBODY, 1)
        case .delete where bytes.isEmpty: set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        case .get, .post, .put, .delete:
            check(martlet_curl_set_body(handle, bytes.baseAddress, bytes.count))
            set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        }
    }

    /// Sets the receiver of the response. `transfer` is not retained. The caller must keep it until libcurl has
    /// finished.
    mutating func receive(into transfer: HTTPTransfer) {
        check(
            martlet_curl_set_receivers(
                handle,
                { bytes, size, count, transfer in
                    deliver(bytes, size * count, transfer) { $0.received(headerLine: $1) }
                },
                { bytes, size, count, transfer in
                    deliver(bytes, size * count, transfer) { $0.received(bodyPart: $1) }
                }, Unmanaged.passUnretained(transfer).toOpaque()))
    }

    /// Frees the header list. Call this function when the transfer has ended.
    mutating func end() {
        check(martlet_curl_set_list(handle, CURLOPT_HTTPHEADER, nil))
        martlet_curl_slist_free_all(headers)
        headers = nil
    }

    private mutating func header(_ line: String) {
        guard let longer = martlet_curl_slist_append(headers, line) else { return check(CURLE_OUT_OF_MEMORY) }
        headers = longer
    }

    private mutating func set(_ option: CURLoption, _ value: Int) {
        check(martlet_curl_set_long(handle, option, value))
    }

    private mutating func set(_ option: CURLoption, _ value: String) {
        check(martlet_curl_set_text(handle, option, value))
    }

    private mutating func check(_ result: CURLcode) {
        if code == CURLE_OK { code = result }
    }
}

/// Passes a part of the response to the transfer. Returns `count` if the transfer accepts the part. Any other number
/// ends the transfer.
private func deliver(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ transfer: UnsafeMutableRawPointer?,
    _ body: (HTTPTransfer, UnsafeRawBufferPointer) -> Bool
) -> Int {
    guard let transfer else { return 0 }
    let isAccepted = body(
        Unmanaged<HTTPTransfer>.fromOpaque(transfer).takeUnretainedValue(),
        UnsafeRawBufferPointer(start: bytes, count: count))
    return isAccepted ? count : count == 0 ? 1 : 0
}
