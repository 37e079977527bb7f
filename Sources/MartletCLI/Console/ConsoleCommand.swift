import CommandKit
import Configuration
import Console
import EventLoop
import Glibc
import Worker

/// The command that runs the web console until a signal stops it.
struct ConsoleCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["console"],
        summary: "Serve the web console, which shows and controls all workers.",
        discussion: """
            Needs the section fleet in the configuration; the section console has the settings of the console. By default,
            listen on 127.0.0.1:9790, and let operators only read. Every browser needs a login: run martlet console open on
            the same machine, or create a personal token with martlet console token create. Run until SIGTERM or SIGINT.
            """,
        options: [.config(isRequired: true)])

    private static let signals = [SIGTERM, SIGINT]

    let configPath: String

    init(_ parsed: ParsedArguments) { configPath = parsed.required("config") }

    func execute() throws(ConfigurationError) -> ExitCode {
        CoreDump.disable()
        let configuration = try ConfigurationFile(configPath).console()
        SignalSource.block(Self.signals)
        let socketPath = configuration.socketPath ?? ControlSocket.consolePath()
        do throws(TransportError) {
            if configuration.socketPath == nil { try ControlSocket.makeFolder(of: socketPath) }
        } catch {
            Terminal.error.line("martlet: \(error.message); set console.socket to another path")
            return .failed
        }
        return CommandLoop.run { loop in await Self.serve(configuration, configPath, socketPath, on: loop) }
    }

    private static func serve(
        _ configuration: ConsoleConfiguration, _ configPath: String, _ socketPath: String, on loop: EpollLoop
    ) async -> ExitCode {
        let server: ConsoleServer
        do throws(ConsoleServer.Failure) {
            server = try ConsoleServer(configuration, configPath: configPath, socketPath: socketPath, on: loop)
        } catch {
            Terminal.error.line("martlet: cannot start the console: \(error.sentence)")
            return .failed
        }
        Terminal.output.line("console at \(server.url); to log in, run: martlet console open --socket \(socketPath)")
        do throws(TransportError) {
            try await SignalWait(on: loop, Self.signals).wait()
        } catch {
            Terminal.error.line("martlet: \(error.message)")
        }
        await server.stop()
        return .success
    }
}

/// A wait for the first of some signals.
private final class SignalWait {
    private var source: SignalSource?
    private var hasArrived = false
    private var waiter: UnsafeContinuation<Void, Never>?

    init(on loop: EpollLoop, _ signals: [Int32]) throws(TransportError) {
        source = try SignalSource(loop: loop, signals: signals) { [unowned self] _ in
            hasArrived = true
            waiter.take()?.resume()
        }
    }

    func wait() async {
        if !hasArrived { await withUnsafeContinuation { waiter = $0 } }
        source?.close()
        source = nil
    }
}
