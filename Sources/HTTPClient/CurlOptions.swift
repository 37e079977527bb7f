import CCURL

/// Sets what one transfer needs, and remembers the first option that libcurl does not take.
struct CurlOptions {
    private let handle: UnsafeMutableRawPointer
    private(set) var code = CURLE_OK
    private var headers: UnsafeMutablePointer<curl_slist>?

    init(_ handle: UnsafeMutableRawPointer) { self.handle = handle }

    var isComplete: Bool { code == CURLE_OK }

    mutating func apply(_ request: HTTPRequest, _ errorText: UnsafeMutablePointer<CChar>) {
        errorText.pointee = 0
        note(martlet_curl_set_text(handle, CURLOPT_ERRORBUFFER, errorText))
        // Without signals, which belong to the whole process; without waiting for a name server that is silent.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Not what the environment says either.
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
            // The folder of the system's would be trusted besides.
            note(martlet_curl_set_text(handle, CURLOPT_CAPATH, nil))
            pem.withUTF8 { note(martlet_curl_set_blob(handle, CURLOPT_CAINFO_BLOB, $0.baseAddress, $0.count)) }
        }
        header("Expect:")
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { header("Content-Type:") }
        for (name, value) in request.headers { header(value.isEmpty ? "\(name);" : "\(name): \(value)") }
        note(martlet_curl_set_list(handle, CURLOPT_HTTPHEADER, headers))
    }

    /// The bytes must stay where they are until the transfer has ended.
    mutating func body(_ bytes: UnsafeRawBufferPointer, _ method: HTTPRequest.Method) {
        switch method {
        case .get where bytes.isEmpty: set(CURLOPT_HTTPGET, 1)
        case .head: set(CURLOPT_NOBODY, 1)
        case .delete where bytes.isEmpty: set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        case .get, .post, .put, .delete:
            note(martlet_curl_set_body(handle, bytes.baseAddress, bytes.count))
            set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        }
    }

    /// The transfer must be there until it has ended.
    mutating func receive(into transfer: HTTPTransfer) {
        note(
            martlet_curl_set_receivers(
                handle,
                { bytes, size, count, transfer in
                    take(bytes, size * count, transfer) { $0.received(headerLine: $1) }
                },
                { bytes, size, count, transfer in
                    take(bytes, size * count, transfer) { $0.received(bodyPart: $1) }
                }, Unmanaged.passUnretained(transfer).toOpaque()))
    }

    /// To be called when the transfer has ended.
    mutating func end() {
        note(martlet_curl_set_list(handle, CURLOPT_HTTPHEADER, nil))
        martlet_curl_slist_free_all(headers)
        headers = nil
    }

    private mutating func header(_ line: String) {
        guard let longer = martlet_curl_slist_append(headers, line) else { return note(CURLE_OUT_OF_MEMORY) }
        headers = longer
    }

    private mutating func set(_ option: CURLoption, _ value: Int) {
        note(martlet_curl_set_long(handle, option, value))
    }

    private mutating func set(_ option: CURLoption, _ value: String) {
        note(martlet_curl_set_text(handle, option, value))
    }

    private mutating func note(_ result: CURLcode) {
        if code == CURLE_OK { code = result }
    }
}

/// Hands a part of an answer on; fewer bytes than there are end the transfer.
private func take(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ transfer: UnsafeMutableRawPointer?,
    _ receive: (HTTPTransfer, UnsafeRawBufferPointer) -> Bool
) -> Int {
    guard let transfer else { return 0 }
    let isTaken = receive(
        Unmanaged<HTTPTransfer>.fromOpaque(transfer).takeUnretainedValue(),
        UnsafeRawBufferPointer(start: bytes, count: count))
    return isTaken ? count : count == 0 ? 1 : 0
}
