import PostgreSQL
import Registrations

/// Commands of a batch, with the rows and marks that the transaction has read for them.
final class PostgresBatchPart {
    let commands: [KeyedCommand]
    let touched: TouchedKeys
    var stored: StoredRegistrations = [:]
    var marks: [EndMark] = []

    init(_ commands: [KeyedCommand]) {
        self.commands = commands
        touched = TouchedKeys(commands)
    }

    /// The parameters of the statement that locks and reads the rows. The keys are in ascending order, because the
    /// server finds neighboring keys on the same pages of an index.
    var rowParameters: PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(array: touched.tokens.sorted())
        parameters.append(array: touched.devices.sorted())
        parameters.append(array: touched.users.sorted())
        return parameters
    }

    /// The parameters of the statement that reads the marks.
    var markParameters: PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(array: touched.marks.sorted())
        return parameters
    }
}
