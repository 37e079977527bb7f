import CCURL
import Glibc

/// A blocking HTTP/1.1 client that sends one request at a time and reuses connections.
///
///     let client = HTTPClient()
///     let response = try client.send(HTTPRequest(.get, try HTTPURL("http://127.0.0.1:9090/status")))
///
/// A request blocks for at most ``HTTPLimits/wholeMillisecondsMax``. Use the client on a command's thread or on a
/// helper thread, never on a lane. Use it on only one thread at a time. The client follows no redirects, uses no
/// proxies, and stores no cookies. Neither a server nor a variable of the environment can change the destination.
public final class HTTPClient {
    private var handle: UnsafeMutableRawPointer?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    public init() {}

    deinit {
        if let handle { martlet_curl_easy_cleanup(handle) }
        errorText.deallocate()
    }

    /// Sends a request and returns the complete response.
    ///
    /// - Throws: ``HTTPError`` if the request is invalid, or if there is no complete response. Statuses such as 404 are
    ///   not errors.
    public func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        try request.check()
        let handle = try readyHandle()
        let transfer = HTTPTransfer(request.limits)
        var options = CurlOptions(handle)
        options.apply(request, errorText)
        options.receive(into: transfer)
        // With a null pointer, libcurl would read the body from standard input.
        let body = request.body.isEmpty ? [0] : request.body
        let code = body.withUnsafeBytes { bytes in
            options.body(UnsafeRawBufferPointer(rebasing: bytes[..<request.body.count]), request.method)
            return withExtendedLifetime(transfer) {
                options.isComplete ? martlet_curl_easy_perform(handle) : options.code
            }
        }
        options.end()
        guard code == CURLE_OK else { throw failure(code, request, transfer) }
        guard transfer.isHeadComplete else { throw cut(request) }
        return HTTPResponse(
            status: martlet_curl_get_long(handle, CURLINFO_RESPONSE_CODE), headers: transfer.headers,
            body: transfer.body)
    }

    /// Returns the handle, reset to default options.
    private func readyHandle() throws(HTTPError) -> UnsafeMutableRawPointer {
        try CurlLibrary.load()
        handle = handle ?? martlet_curl_easy_init()
        guard let handle else { throw HTTPError(.unavailable, "libcurl is out of memory") }
        martlet_curl_easy_reset(handle)
        return handle
    }

    private func failure(_ code: CURLcode, _ request: HTTPRequest, _ transfer: HTTPTransfer) -> HTTPError {
        let place = request.place
        if transfer.isTooLarge || code == CURLE_FILESIZE_EXCEEDED {
            let limits = request.limits
            return HTTPError(
                .tooLarge,
                "\(place): the response has more than \(limits.headerBytesMax) bytes of header "
                    + "or \(limits.bodyBytesMax) bytes of body")
        }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return HTTPError(.cannotResolve, "\(place): cannot resolve the host name")
        case CURLE_COULDNT_CONNECT:
            let number = Int32(truncatingIfNeeded: handle.map { martlet_curl_get_long($0, CURLINFO_OS_ERRNO) } ?? 0)
            let reason = number == 0 ? nil : strerror(number).map { String(cString: $0) }
            return HTTPError(.cannotConnect, "\(place): \(reason ?? "no connection")")
        case CURLE_OPERATION_TIMEDOUT:
            return HTTPError(.timedOut, "\(place): no complete response in time (\(request.limits.text))")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER:
            return HTTPError(.tls, "\(place): TLS failed: \(detail(code))")
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE:
            return cut(request)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_BAD_CONTENT_ENCODING:
            return HTTPError(.notHTTP, "\(place): the server does not speak HTTP/1.1")
        default:
            return HTTPError(.unavailable, "\(place): \(String(cString: martlet_curl_easy_strerror(code)))")
        }
    }

    private func cut(_ request: HTTPRequest) -> HTTPError {
        HTTPError(.connectionLost, "\(request.place): connection closed before the response was complete")
    }

    /// Returns libcurl's detailed error text, or its generic text.
    private func detail(_ code: CURLcode) -> String {
        let text = String(cString: errorText.pointee == 0 ? martlet_curl_easy_strerror(code) : UnsafePointer(errorText))
        return String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }
}

extension HTTPLimits {
    fileprivate var text: String {
        "\(connectMillisecondsMax) ms to connect, \(wholeMillisecondsMax) ms in total"
    }
}
