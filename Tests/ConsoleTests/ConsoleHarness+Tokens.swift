import Glibc
import JSON
import TestKit

@testable import Console

extension ConsoleHarness {
    /// Writes the file of personal tokens, which only this user can change.
    func write(tokens: [(name: String, role: String, token: String)]) throws {
        let entries = tokens.map {
            #"{"name":"\#($0.name)","role":"\#($0.role)","sha256":"\#(Secret.hash($0.token) ?? "")"}"#
        }
        try folder.write("tokens.json", #"{"tokens":[\#(entries.joined(separator: ","))]}"#)
        chmod(folder.file("tokens.json"), 0o644)
    }

    /// Logs in with a personal token.
    func logIn(token: String) async throws -> String {
        let answer = try await request("POST", "/api/session", body: #"{"token":"\#(token)"}"#)
        guard answer.status == 201, let session = try answer.json["session"]?.string else {
            throw ProcessError("login: \(answer.status) \(answer.body)")
        }
        return session
    }
}
