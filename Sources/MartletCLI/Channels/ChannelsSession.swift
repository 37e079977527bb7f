import APNS
import APNSProtocol
import CommandKit
import Configuration
import Crypto
import Delivery
import EventLoop
import JSON
import Text

/// A session that manages an app's broadcast channels and prints the responses of APNs.
struct ChannelsSession: Sendable {
    let options: ChannelCommandOptions

    func run() throws(ConfigurationError) -> ExitCode {
        let configuration = try ConfigurationFile(options.configPath).worker()
        let access: ChannelAccess
        do {
            access = try ChannelAccess(configuration, app: options.app, options.environment)
        } catch {
            Terminal.error.line("martlet: \(error.message)".printable)
            return .usage
        }
        return CommandLoop.run { loop in await perform(access, on: loop) }
    }

    private func perform(_ access: ChannelAccess, on loop: EventLoop) async -> ExitCode {
        let client = ChannelClient(
            loop: loop, connector: access.connector(on: loop), configuration: access.pool)
        defer { client.close() }
        var worst = ExitCode.success
        var hasHeader = false
        for request in options.work.requests {
            guard let id = try? UUIDValue.random() else { return .failed }
            let report = await client.perform(request, of: options.app, id: id)
            if options.isJSON {
                Terminal.output.line(json(report, of: request, access.pool.environment).printable)
            } else {
                show(report, request, &hasHeader)
            }
            worst = .worse(worst, report.exitCode)
            // Further requests would also fail.
            if report.outcome == .unreachable { break }
        }
        return worst
    }

    private func show(_ report: ChannelResult, _ request: ChannelRequest, _ hasHeader: inout Bool) {
        guard report.outcome == .done else {
            for channel in report.madeSince ?? [] { Terminal.error.line("new       \(channel)".printable) }
            let subject = report.channelID ?? request.channelID ?? options.app
            Terminal.error.line("\(report.outcome.rawValue)  \(subject): \(report.sentence ?? "")".printable)
            return
        }
        switch options.work {
        case .create, .read:
            let row = [report.channelID ?? "-", report.storagePolicy?.word ?? "-"]
            let table = TextTable(titles: ["CHANNEL", "STORAGE"], fitting: [row])
            if !hasHeader { Terminal.output.line(table.header) }
            hasHeader = true
            Terminal.output.line(table.line(row))
        case .delete:
            Terminal.output.line("deleted  \(report.channelID ?? "-")".printable)
        case .list:
            for channel in report.channels ?? [] { Terminal.output.line(channel.printable) }
            Terminal.error.line("\(report.channels?.count ?? 0) channels of \(options.app)".printable)
        }
    }

    private func json(
        _ report: ChannelResult, of request: ChannelRequest, _ environment: APNSEnvironment
    ) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("app", options.app)
        json.member("environment", environment.rawValue)
        report.write(to: &json, of: request)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension ChannelCommandOptions.Work {
    fileprivate var requests: [ChannelRequest] {
        switch self {
        case .create(let policy): [.create(policy)]
        case .read(let channels): channels.map { .read($0) }
        case .delete(let channels): channels.map { .delete($0) }
        case .list: [.list]
        }
    }
}

extension ChannelResult {
    fileprivate var exitCode: ExitCode {
        switch outcome {
        case .done: .success
        case .refused, .failed: .failed
        case .unknown: .timedOut
        case .unreachable: .unreachable
        }
    }
}
