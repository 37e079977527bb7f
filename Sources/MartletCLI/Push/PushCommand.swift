import AMQP
import CommandKit
import Configuration
import Crypto
import Delivery
import EventLoop
import JSON
import Text

/// The command that pushes requests without a broker, one after the other, and prints the responses of APNs.
struct PushCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["push"],
        summary: "Push requests directly to APNs, without a broker, and print the responses.",
        discussion: """
            Read keys, certificates, apps and endpoints from the configuration, validate each request as a worker does,
            push it once, and print the outcome; with --json, print the result that a worker would publish. Nothing is
            published or retried. A request to users is invalid. Unknown keys inside aps cause a warning on standard
            error. Exit code 0: all requests were accepted, 1: a request was not accepted, 3: no connection to APNs.
            """,
        operands: "FILE…",
        options: [
            .config(isRequired: true), .json,
            OptionSyntax(name: "new-id", help: "new UUID instead of the id in each file"),
        ])

    struct Options: Equatable, Sendable {
        var configPath: String
        /// The files that contain requests; `-` is standard input.
        var files: [String]
        /// Whether a new id replaces the id in each file.
        var hasNewID = false
        var isJSON = false
    }

    let options: Options

    init(_ parsed: ParsedArguments) {
        options = Options(
            configPath: parsed.required("config"), files: parsed.operands, hasNewID: parsed.has("new-id"),
            isJSON: parsed.has("json"))
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        let configuration = try ConfigurationFile(options.configPath).worker()
        let files = options.files.compactMap { RequestFile.read($0) }
        guard !files.isEmpty else { return .failed }
        let code = CommandLoop.run { loop in
            do throws(CryptoError) {
                return try await push(files, configuration, on: loop)
            } catch {
                Terminal.error.line("martlet: \(error)".printable)
                return .failed
            }
        }
        return files.count == options.files.count ? code : .worse(code, .failed)
    }

    private func push(
        _ files: [RequestFile], _ configuration: WorkerConfiguration, on loop: EventLoop
    ) async throws(CryptoError) -> ExitCode {
        var configuration = configuration
        configuration.lanes = 1
        let components = try WorkerComponents(configuration)
        let direct = DirectPush(
            loop: loop, configuration: components.lane,
            connectors: components.laneConnectors[0].connectors(on: loop).apns)
        defer { direct.close() }
        var worst = ExitCode.success
        for file in files {
            let body = options.hasNewID ? try file.withNewID() : file.body
            let report = await direct.send(body, id: try UUIDValue.random())
            show(report, file.name)
            worst = .worse(worst, report.exitCode)
        }
        return worst
    }

    private func show(_ report: DirectPush.Report, _ file: String) {
        let result = String(decoding: report.result, as: UTF8.self)
        guard !options.isJSON else {
            Terminal.output.line(result.printable)
            return
        }
        let id = (try? JSONDocument(report.result))?.root["id"]?.string ?? "-"
        let terminal = report.outcome == .accepted ? Terminal.output : Terminal.error
        terminal.line("\(report.outcome.rawValue)  \(id)  \(file): \(report.sentence)".printable)
    }
}

extension DirectPush.Report {
    fileprivate var exitCode: ExitCode {
        if isUnreachable { return .unreachable }
        return outcome == .accepted ? .success : .failed
    }
}
