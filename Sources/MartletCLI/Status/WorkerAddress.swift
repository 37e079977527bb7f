import CommandKit
import Configuration
import HTTPClient
import JSON

/// The address of a worker's HTTP interface.
enum WorkerAddress: Equatable, Sendable {
    case socket(String)
    /// The URL of the admin endpoint.
    case url(String)

    static let socketOption = OptionSyntax(
        name: "socket", value: "PATH", help: "control socket of the worker (default: all workers of this user)"
    )

    /// Timeout for a response.
    private static let answerMillisecondsMax = 5000

    /// Returns the named worker, or all workers of this user on this machine.
    static func all(named: WorkerAddress?) -> [WorkerAddress] {
        named.map { [$0] } ?? ControlSocket.paths.map { .socket($0) }
    }

    var text: String {
        switch self {
        case .socket(let path): path
        case .url(let url): url
        }
    }

    /// Sends a request to the worker.
    ///
    /// - Parameters:
    ///   - query: names and values.
    ///   - answerMillisecondsMax: timeout for the response.
    /// - Throws: the reason for a missing response.
    func request(
        _ client: HTTPClient, _ method: HTTPRequest.Method, _ path: String, _ query: [(String, String)] = [],
        body: [UInt8] = [], answerMillisecondsMax: Int = answerMillisecondsMax
    ) throws(HTTPError) -> HTTPResponse {
        var request: HTTPRequest
        switch self {
        case .socket(let socketPath):
            request = HTTPRequest(method, try HTTPURL("http://localhost").appending(path))
            request.unixSocketPath = socketPath
        case .url(let text):
            request = HTTPRequest(method, try HTTPURL(text).appending(path))
        }
        if !query.isEmpty {
            request.url.query = query.map { "\($0)=\(HTTPURL.encoded($1))" }.joined(separator: "&")
        }
        request.body = body
        request.limits.wholeMillisecondsMax = answerMillisecondsMax
        return try client.send(request)
    }
}

extension HTTPResponse {
    /// The sentence in a worker's response; the whole body if it contains none.
    var workerSentence: String { (try? JSONDocument(body))?.root["error"]?.string ?? text }
}

extension WorkerAddress {
    /// Creates the address of the worker that the options name. Returns nil if they name no worker.
    init?(_ parsed: ParsedArguments) throws(UsageError) {
        switch (parsed.options["socket"], parsed.options["url"]) {
        case (nil, nil): return nil
        case (let path?, nil): self = .socket(path)
        case (nil, let url?): self = .url(url)
        case (.some, .some): throw UsageError("options --socket and --url are mutually exclusive")
        }
    }
}
