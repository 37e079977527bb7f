import APNSProtocol
import CommandKit
import Configuration
import EventLoop
import RegistrationTools
import Registrations
import Text

/// The registration store and the apps of a configuration.
struct RegistrationsAccess: Sendable {
    typealias Writer = @Sendable (EpollLoop) throws(StoreFault) -> RegistrationWriter

    let configPath: String
    /// Maximum number of registrations of a user in an app.
    let devicesPerUserMax: Int
    /// The fingerprint of the index key.
    let indexKey: String
    /// The location of the store.
    let location: String
    /// The environments of each app, by bundle ID. The first environment is the default.
    private let environments: [String: [APNSEnvironment]]
    /// A function that creates a connection to the store, without starting the connection.
    let writer: Writer

    init(
        configPath: String, devicesPerUserMax: Int, indexKey: String, location: String,
        environments: [String: [APNSEnvironment]], writer: @escaping Writer
    ) {
        (self.configPath, self.devicesPerUserMax) = (configPath, devicesPerUserMax)
        (self.indexKey, self.location) = (indexKey, location)
        (self.environments, self.writer) = (environments, writer)
    }

    /// Returns the named environment of an app, or the default environment if `named` is nil.
    ///
    /// - Throws: The violation if the configuration lacks the app or its environment.
    func environment(
        of app: String, _ named: APNSEnvironment?
    ) throws(CommandViolation) -> APNSEnvironment {
        guard let served = environments[app], let standard = served.first else {
            throw CommandViolation(.app, "app", path: "/app", "The app is not in the configuration.")
        }
        guard let named else { return standard }
        guard served.contains(named) else {
            throw CommandViolation(
                .app, "environment", path: "/environment",
                "The configuration has no key or certificate for this environment of the app.")
        }
        return named
    }

    /// Prints a fault of the store with its remedy. Returns the exit code.
    func report(_ fault: StoreFault) -> ExitCode {
        let remedy =
            fault.errorClass == StoreSession.inUseClass
            ? "; if it is a worker, run this command as the user of the worker, who can reach its control socket" : ""
        let sentence = fault.sentence + remedy
        Terminal.error.line("martlet: \(CommandAdvice(configPath: configPath).completed(sentence))".printable)
        return fault.code == .unreachable ? .unreachable : .failed
    }
}
