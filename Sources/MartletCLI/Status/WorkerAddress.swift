import CommandKit
import HTTPClient
import JSON
import Worker

/// Where a worker can be asked.
enum WorkerAddress: Equatable, Sendable {
    case socket(String)
    /// Of its admin endpoint.
    case url(String)

    static let socketOption = OptionSyntax(
        name: "socket", value: "PATH", help: "the worker that listens there; default all of this user's on this machine"
    )
    static let options = [
        socketOption, OptionSyntax(name: "url", value: "URL", help: "the worker whose admin endpoint is there"),
    ]

    /// A worker answers in a second, also when its lanes do not.
    private static let answerMillisecondsMax = 5000

    /// Those that were named, else all that there are.
    static func all(named: WorkerAddress?) -> [WorkerAddress] {
        named.map { [$0] } ?? ControlSocket.paths.map { .socket($0) }
    }

    var text: String {
        switch self {
        case .socket(let path): path
        case .url(let url): url
        }
    }

    /// - Parameter query: names and values.
    /// - Throws: why there is no answer.
    func ask(
        _ client: HTTPClient, _ method: HTTPRequest.Method, _ path: String, _ query: [(String, String)] = []
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
        request.limits.wholeMillisecondsMax = Self.answerMillisecondsMax
        return try client.send(request)
    }
}

extension WorkerAddress {
    /// Returns nil if no worker is named.
    init?(_ parsed: ParsedArguments) throws(UsageError) {
        switch (parsed.options["socket"], parsed.options["url"]) {
        case (nil, nil): return nil
        case (let path?, nil): self = .socket(path)
        case (nil, let url?): self = .url(url)
        case (.some, .some): throw UsageError("options --socket and --url exclude each other")
        }
    }
}
