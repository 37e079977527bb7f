import EventLoop
import Glibc
import JSON
import TestKit

/// A process of `martlet console`, with sessions of operators.
struct ConsoleProcess {
    private static let operators = 5

    let process: ChildProcess
    let endpoint: Endpoint
    /// The sessions of five browsers.
    let sessions: [String]

    /// - Parameters:
    ///   - configuration: the path of a configuration with the control socket.
    ///   - socket: the path of the control socket.
    init(configuration: String, socket: String) async throws {
        process = try await ChildProcess([Products.executable("martlet"), "console", "--config", configuration])
        let line = try await process.output.line { $0.hasPrefix("console at http://") }
        let address = line.dropFirst("console at http://".count).prefix { $0 != "/" }
        guard let endpoint = Endpoint(String(address)) else { throw ProcessError("no address in: \(line)") }
        self.endpoint = endpoint
        var sessions: [String] = []
        for _ in 0..<Self.operators {
            let output = try await MartletProcess.run("console", "open", "--socket", socket)
            let code = output.first?.split(separator: "=").last.map(String.init) ?? ""
            let answer = try await onEpollLoop { loop in
                let client = try await RawHTTPClient.connect(to: endpoint, on: loop)
                defer { client.close() }
                return try await client.request("POST", "/api/session", body: #"{"code":"\#(code)"}"#).body
            }
            guard let session = try JSONDocument(Array(answer.utf8)).root["session"]?.string else {
                throw ProcessError("cannot log in to the console: \(answer)")
            }
            sessions.append(session)
        }
        self.sessions = sessions
    }

    /// Returns the number of bytes of the page and of all files that it loads.
    func pageBytes() async throws -> Int {
        try await onEpollLoop { [endpoint] loop in
            let client = try await RawHTTPClient.connect(to: endpoint, on: loop)
            defer { client.close() }
            var (bytes, known, next) = (0, Set(["/"]), ["/"])
            while let target = next.popLast() {
                let answer = try await client.request("GET", target)
                guard answer.status == 200 else { throw ProcessError("\(target): \(answer.status)") }
                bytes += answer.body.utf8.count
                for file in Self.files(in: answer.body) where known.insert(file).inserted { next.append(file) }
            }
            return bytes
        }
    }

    /// Returns the targets of the page's files that a text names: `page/x.css` in HTML, `./x.js` in scripts.
    private static func files(in text: String) -> [String] {
        text.split { "\"'()".contains($0) }.compactMap { word in
            let name = word.split(separator: "/").last ?? ""
            guard [".js", ".css", ".svg"].contains(where: { name.hasSuffix($0) }),
                word.hasPrefix("./") || word.hasPrefix("/page/") || word.hasPrefix("page/")
            else { return nil }
            return "/page/\(name)"
        }
    }

    /// Returns the seconds by which the history is behind the journal; nil if unknown.
    func secondsBehind() async throws -> Double? {
        try await onEpollLoop { [endpoint, sessions] loop in
            let client = try await RawHTTPClient.connect(to: endpoint, on: loop)
            defer { client.close() }
            let answer = try await client.request(
                "GET", "/api/causes", headers: ["Authorization": "Bearer \(sessions[0])"])
            return try JSONDocument(Array(answer.body.utf8)).root["totals"]?["journal_seconds_behind"]?.double
        }
    }

    func end() async throws {
        guard try await process.terminate().status == .exited(0) else { throw ProcessError("the console has failed") }
    }
}
