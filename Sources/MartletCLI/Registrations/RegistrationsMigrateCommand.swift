import CommandKit
import Configuration
import DeadLetters
import EventLoop
import PostgreSQL
import RegistrationStores
import Registrations
import Text

/// The command that creates and updates the schema of a PostgreSQL store.
struct RegistrationsMigrateCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "migrate"],
        summary: "Create or update the schema of a PostgreSQL store.",
        discussion: """
            Connect as the owner of the schema, which --url names. With --url, also grant the rights of a worker to the
            user of registrations.store; this user needs no right to change the schema. Steps only add to the schema,
            and workers may run meanwhile: migrate before you start workers of a new version. The command may be
            repeated; it omits completed steps. A SQLite store needs no migration: its worker creates and updates the
            file.

            Exit code 0: the schema is current, 1: the database refused a step, or --check found an unsuitable version,
            3: the database is unreachable.
            """,
        options: [
            .config(isRequired: true),
            OptionSyntax(
                name: "url", value: "URL",
                help: "PostgreSQL URL with the owner of the schema (default: registrations.store); must not contain a "
                    + "password"),
            OptionSyntax(
                name: "password-file", value: "FILE",
                help: "file with the owner's password (default without --url: registrations.password_file)"),
            OptionSyntax(name: "check", help: "only compare the schema with this version of Martlet"),
            OptionSyntax(name: "print", help: "only print the SQL of all steps, for psql"),
            .json,
        ])

    private static let passwordBytesMax = 4096

    let configPath: String
    let url: PostgresURL?
    let passwordFile: String?
    let checks: Bool
    let prints: Bool
    let isJSON: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        passwordFile = parsed.options["password-file"]
        (checks, prints, isJSON) = (parsed.has("check"), parsed.has("print"), parsed.has("json"))
        if checks, prints { throw UsageError("options --check and --print are mutually exclusive") }
        guard let text = parsed.options["url"] else {
            url = nil
            return
        }
        do throws(PostgresError) {
            url = try PostgresURL(text)
        } catch {
            throw UsageError("option --url: \(error.message)")
        }
    }
}

extension RegistrationsMigrateCommand {
    func execute() throws(ConfigurationError) -> ExitCode {
        let configuration = try ConfigurationFile(configPath).worker()
        guard let settings = configuration.registrations else {
            throw ConfigurationError(mistakes: [RegistrationsAccess.missingSection(configPath)])
        }
        guard case .postgresql(let worker) = settings.store else {
            Terminal.output.line("a SQLite store needs no migration: its worker creates and updates the file")
            return .success
        }
        let role = url == nil ? nil : worker.endpoints.user
        if prints { return Terminal.output.write(PostgresMigrations.sql(workerRole: role)) ? .success : .failed }
        let password: PostgresPassword?
        do throws(ReferenceResolver.ReadFailure) {
            password = try passwordFile.map(Self.password) ?? (url == nil ? settings.password : nil)
        } catch {
            Terminal.error.line("martlet: cannot read \(passwordFile ?? ""): \(error.reason)".printable)
            return .failed
        }
        let target = url ?? worker
        return CommandLoop.run { loop in
            let migrations = PostgresMigrations(loop: loop, url: target, password: { password })
            do throws(StoreFault) {
                return checks ? try await check(migrations) : try await migrate(migrations, role)
            } catch {
                Terminal.error.line("martlet: \(commands.completed(error.sentence))".printable)
                return error.code == .unreachable ? .unreachable : .failed
            }
        }
    }

    private var commands: CommandAdvice { CommandAdvice(configPath: configPath) }

    static func password(_ path: String) throws(ReferenceResolver.ReadFailure) -> PostgresPassword {
        var line = try FileReader.bytes(of: path, bytesMax: passwordBytesMax)
        line.removeLineEnd()
        guard !line.isEmpty, !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
            throw ReferenceResolver.ReadFailure(reason: "it must contain a password in UTF-8, without a NUL")
        }
        return PostgresPassword(text)
    }

    private func check(_ migrations: PostgresMigrations) async throws(StoreFault) -> ExitCode {
        let found = try await migrations.check()
        let fault = found.fault(required: PostgresMigrations.version)
        if isJSON {
            Terminal.output.line(
                #"{"version":\#(found.version),"required":\#(PostgresMigrations.version),"ok":\#(fault == nil)}"#)
        } else if let fault {
            Terminal.error.line("martlet: \(commands.completed(fault.sentence))".printable)
        } else {
            Terminal.output.line("the schema has version \(found.version), which this version of Martlet can use")
        }
        return fault == nil ? .success : .failed
    }

    private func migrate(_ migrations: PostgresMigrations, _ role: String?) async throws(StoreFault) -> ExitCode {
        let before = try await migrations.migrate(workerRole: role)
        let after = max(before.version, PostgresMigrations.version)
        if isJSON {
            Terminal.output.line(#"{"event":"summary","before":\#(before.version),"version":\#(after)}"#)
        } else {
            Terminal.output.line(
                before.version == after
                    ? "the schema already has version \(after)"
                    : "migrated the schema from version \(before.version) to version \(after)")
        }
        return .success
    }
}
