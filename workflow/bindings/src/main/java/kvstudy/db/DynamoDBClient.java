package kvstudy.db;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.StringJoiner;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * YCSB on DynamoDB Local, with the layout of YCSB's own binding: an item for each record, its key
 * in an attribute, and a text for each field.
 *
 * <ul>
 *   <li>read: GetItem, consistent, with a projection when fields are named
 *   <li>insert: PutItem; an existing item is overwritten
 *   <li>update: UpdateItem; a missing item is <em>created</em>, as YCSB's binding does
 *   <li>delete: DeleteItem
 *   <li>scan: none; items are in the order of a hash
 * </ul>
 *
 * <p>Different from YCSB's binding: a missing item is NOT_FOUND, a byte is the character with the
 * same number (ISO 8859-1), nothing is tried again, and credentials are made up: this is for
 * DynamoDB Local alone.
 *
 * <p>Properties: {@code dynamodb.endpoint} (http://127.0.0.1:8000), {@code dynamodb.timeout} (ms
 * for each operation, 2000).
 */
public class DynamoDBClient extends StoreClient<DynamoDbClient> {
  private static final String KEY = "_key";

  // Java's client for HTTP keeps five connections, and sends what failed a second time.
  static {
    System.setProperty("http.maxConnections", "1000");
    System.setProperty("sun.net.http.retryPost", "false");
  }

  private URI endpoint;
  private Duration timeout;

  @Override
  String configure(Properties p) throws DBException {
    String text = p.getProperty("dynamodb.endpoint", "http://127.0.0.1:8000");
    try {
      endpoint = URI.create(text);
    } catch (IllegalArgumentException e) {
      throw new DBException("dynamodb.endpoint=" + text + ": give it as http://host:port", e);
    }
    if (endpoint.getPort() < 1 || endpoint.getHost() == null) {
      throw new DBException("dynamodb.endpoint=" + text + ": give it as http://host:port");
    }
    int millis = Options.integer(p, "dynamodb.timeout", 2000, 1, Integer.MAX_VALUE);
    timeout = Duration.ofMillis(millis);
    ordered = false;
    return "dynamodb " + endpoint.getHost() + ":" + endpoint.getPort();
  }

  @Override
  DynamoDbClient connect() {
    return DynamoDbClient.builder()
        .endpointOverride(endpoint)
        .region(Region.of("local"))
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("kvstudy", "none")))
        .overrideConfiguration(all -> all.retryStrategy(DefaultRetryStrategy.doNotRetry()))
        .httpClientBuilder(
            UrlConnectionHttpClient.builder().connectionTimeout(timeout).socketTimeout(timeout))
        .build();
  }

  @Override
  void greet(DynamoDbClient fresh) {
    fresh.listTables();
  }

  @Override
  void close(DynamoDbClient old) {
    old.close();
  }

  @Override
  String remedy() {
    return "start the server, or set dynamodb.endpoint";
  }

  @Override
  boolean isLost(Exception e) {
    return e instanceof SdkClientException;
  }

  @Override
  Status read(
      DynamoDbClient dynamodb,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result) {
    GetItemRequest.Builder get =
        GetItemRequest.builder().tableName(table).key(key(key)).consistentRead(true);
    if (fields != null && !fields.isEmpty()) {
      Map<String, String> names = new HashMap<>();
      fields.forEach(field -> names.put("#" + field, field));
      get.projectionExpression(String.join(",", names.keySet())).expressionAttributeNames(names);
    }
    Map<String, AttributeValue> item = dynamodb.getItem(get.build()).item();
    item.forEach(
        (name, value) -> {
          if (!name.equals(KEY)) {
            result.put(name, new ByteArrayByteIterator(value.s().getBytes(ISO_8859_1)));
          }
        });
    return item.isEmpty() ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  Status insert(
      DynamoDbClient dynamodb, String table, String key, Map<String, ByteIterator> values) {
    Map<String, AttributeValue> item = new HashMap<>(key(key));
    values.forEach((name, value) -> item.put(name, text(value)));
    PutItemRequest put = PutItemRequest.builder().tableName(table).item(item).build();
    dynamodb.putItem(put);
    return Status.OK;
  }

  @Override
  Status update(
      DynamoDbClient dynamodb, String table, String key, Map<String, ByteIterator> values) {
    StringJoiner changes = new StringJoiner(",", "SET ", "");
    Map<String, String> names = new HashMap<>();
    Map<String, AttributeValue> texts = new HashMap<>();
    values.forEach(
        (name, value) -> {
          changes.add("#" + name + "=:" + name);
          names.put("#" + name, name);
          texts.put(":" + name, text(value));
        });
    UpdateItemRequest update =
        UpdateItemRequest.builder()
            .tableName(table)
            .key(key(key))
            .updateExpression(changes.toString())
            .expressionAttributeNames(names)
            .expressionAttributeValues(texts)
            .build();
    dynamodb.updateItem(update);
    return Status.OK;
  }

  @Override
  Status delete(DynamoDbClient dynamodb, String table, String key) {
    DeleteItemRequest delete =
        DeleteItemRequest.builder()
            .tableName(table)
            .key(key(key))
            .returnValues(ReturnValue.ALL_OLD)
            .build();
    return dynamodb.deleteItem(delete).attributes().isEmpty() ? Status.NOT_FOUND : Status.OK;
  }

  private static Map<String, AttributeValue> key(String key) {
    return Map.of(KEY, AttributeValue.fromS(key));
  }

  private static AttributeValue text(ByteIterator value) {
    return AttributeValue.fromS(new String(value.toArray(), ISO_8859_1));
  }
}
