import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** DynamoDB Local on loopback: it has no option for that, and listens on all addresses. */
class OnLoopback {
  public static void main(String[] options) throws Exception {
    DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(options);
    Field server = DynamoDBProxyServer.class.getDeclaredField("server");
    server.setAccessible(true);
    for (Connector connector : ((Server) server.get(local)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    local.start();
    local.join();
  }
}
